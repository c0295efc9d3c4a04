/// URLs in messages, logs, and listings: without user info and without the values of the query, which may be credentials or
/// signatures.
package enum URLDescription {
    /// The longest URL that is shown completely, in bytes; `data:` URLs are longer.
    private static let maximumLength = 2_000

    /// Returns the string without user info and query values if it is a URL; other strings are returned unchanged.
    package static func redacted(_ string: String) -> String {
        var text = string
        if let range = userInfo(text) { text.removeSubrange(range) }
        let isLong = text.utf8.count > maximumLength
        if let query = text.firstIndex(of: "?") {
            text = String(text[...query]) + (isLong ? "…" : redactedQuery(text[text.index(after: query)...]))
        }
        guard isLong else { return text }
        return text.count > 61 ? String(text.prefix(60)) + "…" : text
    }

    /// The range of `user:password@` in the authority of a URL (RFC 3986, section 3.2).
    private static func userInfo(_ text: String) -> Range<String.Index>? {
        guard let scheme = text.range(of: "://") else { return nil }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return nil }
        return scheme.upperBound..<text.index(after: at)
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
