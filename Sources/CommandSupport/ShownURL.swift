internal import FoundationEssentials
internal import TintypeLoading

/// A URL as commands show it: without credentials, unless the user asks for complete URLs.
package enum ShownURL {
    /// Returns the text to show for a URL that the user gave or that the cache holds.
    package static func text(_ url: String, isComplete: Bool = false) -> String {
        // `data:` URLs have no credentials, and a program may look for its own.
        guard !isComplete, url.contains(where: { "@?#".contains($0) }), url.prefix(5).lowercased() != "data:" else {
            return url
        }
        let parsed = URL(written: url)
        let text = parsed?.shortDescription ?? url
        // That has removed the credentials of a URL. In text that isn't one, such as a URL with a typing error, a password may have any
        // character.
        guard parsed.map(mayHaveTypingError) ?? true else { return text }
        let start = text.firstRange(of: "//")?.upperBound ?? text.startIndex
        guard parsed?.scheme != nil || start > text.startIndex, let sign = text[start...].lastIndex(of: "@") else {
            return text
        }
        return String(text[..<start] + text[text.index(after: sign)...])
    }

    /// True for a URL without a host, and for one whose port may be a password with a slash: `http://user:12/34@host`.
    private static func mayHaveTypingError(_ url: URL) -> Bool {
        if url.host() == nil { return !url.isFileURL }
        return url.port != nil && url.path().split(separator: "/").first?.contains("@") == true
    }
}
