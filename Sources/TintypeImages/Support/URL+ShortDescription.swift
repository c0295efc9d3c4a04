package import FoundationEssentials

extension URL {
    /// The URL for messages, logs, and listings: without user info and query values. See ``URLDescription``.
    package var shortDescription: String { URLDescription.redacted(absoluteString) }
}

extension URL {
    /// True with `user:password@`.
    package var hasCredentials: Bool { user(percentEncoded: true) != nil || password(percentEncoded: true) != nil }

    /// The URL without `user:password@`.
    package var withoutCredentials: URL {
        guard hasCredentials, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.user = nil
        parts.password = nil
        return parts.url ?? self
    }
}
