package import FoundationEssentials

extension URL {
    /// Creates the URL of a string as it was written: in a program, on a command line, in a list, or in the `Location` of a redirect.
    ///
    /// Each byte that a URL can't have there (RFC 3986) becomes an escape, and nothing else changes: escapes stay, even those for
    /// invalid UTF-8, and a `%` that starts none becomes `%25`. White space around the string is left out.
    ///
    /// `URL(string:)` of swift-foundation isn't enough: if a character of a component needs an escape, it encodes the `%` of all others
    /// again.
    /// - Parameters:
    ///   - text: an absolute URL, or a reference if there is a base.
    ///   - base: the URL to which a reference is relative.
    package init?(written text: String, relativeTo base: URL? = nil) {
        var text = text
        if let encoded = text.withUTF8({ WrittenURL(bytes: $0).encoded }) { text = encoded }
        guard let url = URL(string: text, relativeTo: base)?.absoluteURL else { return nil }
        self = url.withASCIIHost ?? url
    }
}

extension String {
    /// Creates the text of a URL from bytes that need not be UTF-8: escapes take the place of all bytes that aren't ASCII.
    package init(escapingURL bytes: some Sequence<UInt8>) {
        var text: [UInt8] = []
        for byte in bytes {
            if byte < 0x80 { text.append(byte) } else { text += WrittenURL.escape(byte) }
        }
        self.init(decoding: text, as: UTF8.self)
    }
}

/// The bytes of a URL as it was written.
private struct WrittenURL {
    let bytes: UnsafeBufferPointer<UInt8>

    /// The string with escapes for the bytes that need them; `nil` if none does.
    var encoded: String? {
        let text = trimmed
        let authority = authority(of: text)
        let host = authority.map { authority in
            (text[authority].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.lowerBound)..<authority
                .upperBound
        }
        var result: [UInt8] = []
        var hasFragment = false
        // Most URLs need nothing.
        var copied = text.startIndex
        for index in text.indices {
            let byte = text[index]
            // Hosts have rules of their own, and are left to the parser, except letters: it would encode the `%` beside them again.
            if let host, host.contains(index), byte < 0x80 { continue }
            if byte == UInt8(ascii: "#"), !hasFragment {
                hasFragment = true
                continue
            }
            if byte == UInt8(ascii: "%") ? isEscape(text[index...]) : Self.legal[Int(byte)] { continue }
            result += text[copied..<index]
            result += Self.escape(byte)
            copied = index + 1
        }
        guard copied > text.startIndex || text.count < bytes.count else { return nil }
        result += text[copied...]
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes without white space and control characters around them.
    private var trimmed: Slice<UnsafeBufferPointer<UInt8>> {
        var text = bytes[...].drop { $0 <= 0x20 }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        return text
    }

    /// The place of `user:password@host:port`, if any.
    private func authority(of text: Slice<UnsafeBufferPointer<UInt8>>) -> Range<Int>? {
        let scheme = text.prefix { Self.schemeBytes[Int($0)] }
        var start = text.startIndex
        if !scheme.isEmpty, scheme.endIndex < text.endIndex, text[scheme.endIndex] == UInt8(ascii: ":") {
            start = scheme.endIndex + 1
        }
        guard text[start...].starts(with: "//".utf8) else { return nil }
        let end = text[(start + 2)...].firstIndex { "/?#".utf8.contains($0) }
        return start + 2..<(end ?? text.endIndex)
    }

    private func isEscape(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let digits = text.dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { Self.hexDigits[Int($0)] }
    }

    static func escape(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static let hexDigits = table("0123456789abcdefABCDEF")
    private static let schemeBytes = table(letters + "0123456789+-.")
    /// The characters of user info, paths, queries, and fragments (RFC 3986, sections 3.2.1 and 3.3 to 3.5), except `%`.
    private static let legal = table(letters + "0123456789-._~!$&'()*+,;=:@/?")
    private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    /// A set of ASCII characters, by byte.
    private static func table(_ characters: String) -> [Bool] {
        var table = [Bool](repeating: false, count: 256)
        for byte in characters.utf8 { table[Int(byte)] = true }
        return table
    }
}
