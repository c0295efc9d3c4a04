public import FoundationEssentials

extension ImageFormat {
    /// The number of bytes at the start that ``init(sniffing:)`` examines.
    package static let sniffedBytes = 4_096

    /// Recognizes a format by its signature; `nil` if the signature is unknown.
    ///
    /// One or two letters are never enough: an HTML page isn't SVG, and a text that starts with `BM` isn't a BMP. If a format allows more
    /// before its contents than is examined, such as a long comment or compression in SVG, the bytes are taken for that format, and its
    /// coder decides. Sources: the specifications of the formats, and the WHATWG's "MIME Sniffing Standard", section 6.1.
    /// - Parameter data: the start of a file.
    /// - Complexity: O(1); examines at most the first 4,096 bytes.
    public init?(sniffing data: Data) {
        let signature = [UInt8](data.prefix(32))
        if let format = Self.signature(signature) {
            self = format
            return
        }
        let head = data.prefix(Self.sniffedBytes)
        let bytes = [UInt8](head)
        let format = Self.isoMedia(bytes) ?? Self.bitmap(signature) ?? Self.document(bytes) ?? Self.markup(head)
        guard let format else { return nil }
        self = format
    }

    private static func signature(_ head: [UInt8]) -> ImageFormat? {
        // As numbers and short strings, which take no memory of their own: this runs for every image that is loaded.
        let word = (0..<8).reduce(0 as UInt64) { $0 << 8 | ($1 < head.count ? UInt64(head[$1]) : 0) }
        func begins(_ bytes: UInt64, count: Int) -> Bool { head.count >= count && word >> (64 - 8 * count) == bytes }
        // A marker should follow, but some writers leave bytes in between, and readers skip them.
        if begins(0xFFD8, count: 2) { return .jpeg }
        if begins(0x8950_4E47_0D0A_1A0A, count: 8) { return .png }
        if head.has("GIF87a") || head.has("GIF89a") { return .gif }
        if head.has("RIFF"), head.has("WEBP", at: 8) { return .webp }
        if begins(0xFF0A, count: 2) { return .jxl }
        if begins(0x0000_000C_4A58_4C20, count: 8), head.dropFirst(8).starts(with: [0x0D, 0x0A, 0x87, 0x0A]) {
            return .jxl
        }
        if head.has("%PDF-") { return .pdf }
        // SVG is the only format here that is served in gzip (SVG 1.1, appendix F).
        if begins(0x1F_8B08, count: 3) { return .svg }
        if camera(head) { return .raw }
        // TIFF 6.0 and BigTIFF, in both byte orders. Canon's CR2 has its mark in bytes that TIFF leaves unused.
        if head.has("II*\0") { return head.has("CR", at: 8) ? .raw : .tiff }
        return head.has("MM\0*") || head.has("II+\0") || head.has("MM\0+") ? .tiff : nil
    }

    /// Returns true for camera files whose signature isn't TIFF's: Fujifilm, Olympus, Panasonic, Canon (CRW), Minolta and
    /// Sigma.
    private static func camera(_ head: [UInt8]) -> Bool {
        if head.has("FUJIFILM"), head.has("CCD-RAW ", at: 8) { return true }
        // TIFF with a different number instead of 42.
        if head.has("IIRO") || head.has("IIRS") || head.has("MMOR") || head.has("IIU\0") { return head.count >= 8 }
        // CIFF: the length of its header, then its type.
        if head.has("II\u{1A}\0\0\0") { return head.has("HEAPCCDR", at: 6) }
        if head.has("\0MRM") { return head.has("\0PRD", at: 8) }
        return head.has("FOVb")
    }

    /// Recognizes BMP and ICO, whose signatures are short, by the fields after the signature.
    private static func bitmap(_ head: [UInt8]) -> ImageFormat? {
        func little(_ offset: Int, _ bytes: Int) -> Int {
            (0..<bytes).reduce(0) { $0 | Int(head[offset + $1]) << (8 * $1) }
        }
        if head.has("BM"), head.count >= 18 {
            // The size of the next header: OS/2 1 and 2, Windows 3, and versions 2 to 5.
            return [12, 16, 40, 52, 56, 64, 108, 124].contains(little(14, 4)) ? .bmp : nil
        }
        // An icon or a cursor, with at least one image.
        guard head.count >= 6, little(0, 2) == 0, [1, 2].contains(little(2, 2)), little(4, 2) > 0 else { return nil }
        return .ico
    }

    /// Recognizes the brands of an ISO base media file (ISO/IEC 14496-12, section 4.3): first the major brand, then the
    /// compatible brands.
    private static func isoMedia(_ head: [UInt8]) -> ImageFormat? {
        guard head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let length = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard length >= 16 || length == 0 else { return nil }
        let end = min(head.count, length == 0 ? head.count : length)
        var brands = [String(decoding: head[8..<12], as: UTF8.self)]
        for offset in stride(from: 16, to: end - 3, by: 4) {
            brands.append(String(decoding: head[offset..<offset + 4], as: UTF8.self))
        }
        func first(_ formats: [ImageFormat: Set<String>]) -> ImageFormat? {
            brands.lazy.compactMap { brand in formats.first { $0.value.contains(brand) }?.key }.first
        }
        return first([
            .avif: ["avif", "avis"],
            .heic: ["heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs"],
            .raw: ["crx "],
        ]) ?? first([.heif: ["mif1", "msf1", "mif2"]])
    }

    /// Recognizes PDF behind other bytes (PDF Reference 1.7, appendix H, notes 13 and 14), and without its first line, by what follows it: a
    /// comment of four bytes beyond ASCII, or an object.
    private static func document(_ head: [UInt8]) -> ImageFormat? {
        let text = head.drop { isSpace($0) || [0xEF, 0xBB, 0xBF].contains($0) }
        // Markup may quote anything.
        guard text.first != UInt8(ascii: "<") else { return nil }
        if head.prefix(1_024).firstRange(of: Array("%PDF".utf8)) != nil { return .pdf }
        if text.first == UInt8(ascii: "%") {
            let comment = text.dropFirst().prefix { $0 != 0x0A && $0 != 0x0D }
            let isBinary = comment.count >= 4 && comment.prefix(4).allSatisfy { $0 >= 0x80 }
            return isBinary || comment.starts(with: "!PS-Adobe-".utf8) && comment.contains("PDF-".utf8) ? .pdf : nil
        }
        let words = text.prefix(64).split(maxSplits: 2, whereSeparator: isSpace)
        let isObject = words.count == 3 && words[2].starts(with: "obj".utf8)
        return isObject && words[0...1].joined().allSatisfy { (0x30...0x39).contains($0) } ? .pdf : nil
    }

    /// Recognizes SVG: its root element is `svg`, with any prefix, after a byte order mark, a declaration, comments and a document type.
    private static func markup(_ head: Data) -> ImageFormat? {
        var text = (XMLEncoding(head)?.utf8(head) ?? [UInt8](head))[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        // A part of a document may be one whose root comes later.
        var mayBeSVG = head.count >= sniffedBytes
        while true {
            text = text.drop(while: isSpace)
            let end: Int?
            if text.starts(with: "<!DOCTYPE".utf8) {
                let name = localName(text.dropFirst(9).drop(while: isSpace))
                mayBeSVG = mayBeSVG && (name.elementsEqual("svg".utf8) || name.endIndex == text.endIndex)
                end = endOfDocumentType(text)
            } else if let closing = closing(of: text) {
                end = text.firstRange(of: Array(closing.utf8))?.upperBound
            } else {
                guard text.first == UInt8(ascii: "<") || text.isEmpty else { return nil }
                let name = localName(text.dropFirst())
                return name.elementsEqual("svg".utf8) || mayBeSVG && name.endIndex == text.endIndex ? .svg : nil
            }
            guard let end else { return mayBeSVG ? .svg : nil }
            text = text[end...]
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// The name that a text starts with, without a prefix.
    private static func localName(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let name = text.prefix { !isSpace($0) && $0 != 0x3E && $0 != 0x2F && $0 != UInt8(ascii: "[") }
        return name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    /// The end of the comment or the instruction that a text starts with; `nil` if it starts with neither.
    private static func closing(of text: ArraySlice<UInt8>) -> String? {
        if text.starts(with: "<!--".utf8) { return "-->" }
        return text.starts(with: "<?".utf8) ? "?>" : nil
    }

    /// The end of the document type that a text starts with (XML 1.0, production 28): it may have declarations in brackets, strings,
    /// comments, and instructions.
    private static func endOfDocumentType(_ text: ArraySlice<UInt8>) -> Int? {
        var (index, isInBrackets) = (text.startIndex, false)
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let end = text[(index + 1)...].firstIndex(of: text[index]) else { return nil }
                index = end
            case UInt8(ascii: "<"):
                if let closing = closing(of: text[index...]) {
                    guard let end = text[index...].firstRange(of: Array(closing.utf8)) else { return nil }
                    index = end.upperBound - 1
                }
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ">") where !isInBrackets: return index + 1
            default: break
            }
            index += 1
        }
        return nil
    }
}

extension [UInt8] {
    /// True if ASCII text stands at an offset.
    fileprivate func has(_ text: String, at offset: Int = 0) -> Bool { dropFirst(offset).starts(with: text.utf8) }
}

extension ImageFormat {
    /// Returns a description of data that isn't an image, for helpful error messages.
    package static func guess(_ data: Data) -> String {
        if data.isEmpty { return "the data is empty" }
        let head = String(decoding: data.prefix(256), as: UTF8.self).drop { $0.isWhitespace }.lowercased()
        if head.hasPrefix("<!doctype html") || head.hasPrefix("<html") { return "the data is an HTML page" }
        if head.hasPrefix("<?xml") || head.hasPrefix("<") { return "the data is markup, but not SVG" }
        if head.hasPrefix("{") || head.hasPrefix("[") { return "the data looks like JSON" }
        // ISO/IEC 14496-12 (MP4, QuickTime), and EBML (Matroska, WebM).
        if data.dropFirst(4).starts(with: "ftyp".utf8) || data.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            return "the data is a video or audio file"
        }
        let digits = Array("0123456789abcdef")
        let hex = data.prefix(8).map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: " ")
        return "the data begins with \(hex), which no known image format does"
    }
}
