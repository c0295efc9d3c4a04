/// The values with which an HTTP server can be asked whether an answer is still current (RFC 9110, section 8.8).
public struct CacheValidators: Sendable, Hashable, Codable {
    public var entityTag: String?
    public var lastModified: String?

    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    public var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// True if others have another strong entity tag, and so are those of other bytes (RFC 9110, section 8.8.3).
    package func isContradicted(by new: CacheValidators?) -> Bool {
        guard let old = entityTag, let tag = new?.entityTag, !tag.hasPrefix("W/") else { return false }
        return tag != (old.hasPrefix("W/") ? String(old.dropFirst(2)) : old)
    }

    /// The validators after the source said that the bytes are current: those that it doesn't repeat stay.
    package func renewed(by new: CacheValidators?) -> CacheValidators? {
        let all = CacheValidators(
            entityTag: new?.entityTag ?? entityTag, lastModified: new?.lastModified ?? lastModified)
        return all.isEmpty ? nil : all
    }
}
