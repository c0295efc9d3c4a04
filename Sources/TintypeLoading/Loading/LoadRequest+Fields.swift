extension LoadRequest {
    /// The header fields that may be sent to an origin other than the URL's, in lowercase: after a redirect, and to an alternative source.
    ///
    /// They describe the client or the body. All others, such as `Authorization`, `Cookie`, `Host`, `Referer`, and a program's own, may be
    /// secrets or belong to a single host.
    package static let harmlessFields: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-type", "dnt", "pragma", "priority", "save-data", "sec-gpc",
        "upgrade-insecure-requests", "user-agent",
    ]
}
