/// URLs in messages, logs, and listings: without user info and without the values of the query, which may be credentials or
/// signatures.
package enum URLDescription {
    /// The longest URL that is shown completely, in bytes; `data:` URLs are longer.
    private static let maximumLength = 2_000

    /// Returns the string without user info and query values if it is a URL; other strings are returned unchanged.
    package static func redacted(_ string: String) -> String {
        // Usual URLs have nothing to hide, and every store asks.
        if string.utf8.count <= maximumLength, !string.utf8.contains(where: isMark) { return string }
        guard string.utf8.count <= maximumLength else {
            // All that is looked at.
            var start = String(decoding: string.utf8.prefix(maximumLength), as: UTF8.self)
            if let range = userInfo(start, isCut: true) { start.removeSubrange(range) }
            return String(start.prefix(60).prefix { $0 != "?" && $0 != "#" }) + "…"
        }
        var text = string
        if let range = userInfo(text) { text.removeSubrange(range) }
        // A fragment may be the answer of an authorization server, in the form of a query.
        let isURL = text.hasPrefix("//") || text.range(of: "://") != nil
        if let query = text.firstIndex(where: { $0 == "?" || isURL && $0 == "#" }) {
            text = String(text[...query]) + redactedQuery(text[text.index(after: query)...])
        }
        return text
    }

    /// True for the characters before or after anything that may be secret.
    private static func isMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "@")
    }

    /// The range of `user:password@` in the authority of a URL (RFC 3986, section 3.2).
    /// - Parameter isCut: true if the end of the text is missing. All of an authority that reaches it may be user info.
    private static func userInfo(_ text: String, isCut: Bool = false) -> Range<String.Index>? {
        let start: String.Index
        if text.hasPrefix("//") {
            // A relative reference without the scheme, as in the location of a redirect.
            start = text.index(text.startIndex, offsetBy: 2)
        } else {
            guard let scheme = text.range(of: "://") else { return nil }
            start = scheme.upperBound
        }
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if isCut, authority.endIndex == text.endIndex { return start..<text.endIndex }
        guard let at = authority.lastIndex(of: "@") else { return nil }
        return start..<text.index(after: at)
    }

    /// Returns the names in a query, without their values.
    private static func redactedQuery(_ query: Substring) -> String {
        let end = query.firstIndex(of: "#") ?? query.endIndex
        let items = query[..<end].split(separator: "&", omittingEmptySubsequences: false).map { item in
            item.firstIndex(of: "=").map { "\(item[...$0])…" } ?? (item.count > 32 ? "…" : String(item))
        }
        return items.joined(separator: "&")
    }
}

extension String {
    /// The range of the first occurrence of an ASCII pattern.
    fileprivate func range(of pattern: String) -> Range<String.Index>? {
        var start = startIndex
        while let found = self[start...].firstIndex(of: pattern.first ?? " ") {
            if self[found...].hasPrefix(pattern) { return found..<index(found, offsetBy: pattern.count) }
            start = index(after: found)
        }
        return nil
    }
}
