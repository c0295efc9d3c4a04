/// What a downloaded image is called on disk: what its URL ends in, made safe.
///
/// The last path component is percent-decoded; what is left of it is one name in the directory: no separators, no control
/// characters, not hidden, not `..`, not empty, not longer than file systems allow. Windows's reserved characters go too, so
/// that a folder of images can be copied anywhere.
struct FileName: Hashable, Sendable {
    /// The name without its ending.
    var stem: String
    /// The ending without the dot; empty if there is none.
    var fileExtension: String

    /// File systems allow 255 bytes; there must be room for a number and an ending.
    static let longestStem = 200
    static let longestExtension = 10

    /// The name for what was at a URL.
    init(url: String) {
        self.init(proposed: Self.lastComponent(of: url))
    }

    /// A safe name as close to the proposed one as can be.
    init(proposed: String) {
        let name = Self.safe(proposed)
        if let dot = name.lastIndex(of: "."), dot != name.startIndex {
            let ending = String(name[name.index(after: dot)...])
            if !ending.isEmpty, ending.utf8.count <= Self.longestExtension,
                ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
            {
                stem = Self.shortened(Self.trimmed(String(name[..<dot])))
                fileExtension = ending
                if stem.isEmpty { stem = "image" }
                return
            }
        }
        stem = Self.shortened(name)
        fileExtension = ""
        if stem.isEmpty { stem = "image" }
    }

    /// The whole name; with a number from 2 on, `photo-2.jpg`.
    func name(number: Int = 1) -> String {
        (number > 1 ? "\(stem)-\(number)" : stem) + (fileExtension.isEmpty ? "" : ".\(fileExtension)")
    }

    private static func lastComponent(of url: String) -> String {
        if url.prefix(5).lowercased() == "data:" { return "" }
        var path = url[...]
        if let scheme = path.firstRange(of: "://") {
            // What follows the host.
            path = path[scheme.upperBound...]
            path = path.prefix { $0 != "?" && $0 != "#" }
            guard let slash = path.firstIndex(of: "/") else { return "" }
            path = path[slash...]
        } else {
            path = path.prefix { $0 != "?" && $0 != "#" }
        }
        while path.last == "/" { path.removeLast() }
        let component = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
        return percentDecoded(component.utf8)
    }

    /// RFC 3986, section 2.1; what is no escape stays as it is, and what is no UTF-8 is repaired.
    private static func percentDecoded(_ text: Substring.UTF8View) -> String {
        func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }
        let bytes = Array(text)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func safe(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: continue
            default: result.append("/\\:*?\"<>|".unicodeScalars.contains(scalar) ? "_" : scalar)
            }
        }
        return trimmed(String(result))
    }

    /// Without leading dots, dashes (which commands take for options) and spaces, and trailing dots and spaces.
    private static func trimmed(_ text: String) -> String {
        var text = text[...].drop { ".-~ ".contains($0) || $0.isWhitespace }
        while let last = text.last, last == "." || last.isWhitespace { text.removeLast() }
        return String(text)
    }

    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestStem else { return text }
        var text = text
        while text.utf8.count > longestStem { text.removeLast() }
        return trimmed(text)
    }
}
