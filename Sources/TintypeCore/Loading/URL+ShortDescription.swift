package import FoundationEssentials

extension URL {
    /// The URL for a message: without user and password, and cut where it is longer than a person reads, as `data:` URLs are.
    package var shortDescription: String {
        let text = withoutCredentials.absoluteString
        guard text.utf8.count > 2_000 else { return text }
        return String(text.prefix(60)) + "…"
    }

    /// The URL without `user:password@`.
    package var withoutCredentials: URL {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil,
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.user = nil
        parts.password = nil
        return parts.url ?? self
    }
}
