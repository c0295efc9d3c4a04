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
        return withoutUserInfo(URL(written: url)?.shortDescription ?? url)
    }

    /// Removes the part before `@` in the authority, also from text that is not a URL.
    private static func withoutUserInfo(_ text: String) -> String {
        guard let start = text.firstRange(of: "//")?.upperBound else { return text }
        let authority = text[start...].prefix { !"/?#".contains($0) }
        guard let sign = authority.lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[text.index(after: sign)...])
    }
}
