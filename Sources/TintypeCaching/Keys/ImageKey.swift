/// The identity of an image in the caches: its source, and the variant that was made from it.
public struct ImageKey: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The source: the URL's absolute string, or the string that the program uses instead (``ImageRequest/CacheOptions/key``).
    public let source: String
    /// The variant of the source.
    public let variant: ImageVariant
    /// A hash of both, computed once: a key is looked up several times during a load. It differs from process to process.
    let digest: UInt64

    /// Creates a key. Each parameter sets the property of the same name.
    public init(source: String, variant: ImageVariant = .original) {
        self.source = source
        self.variant = variant
        let hash = KeyedHash.hash(source)
        digest =
            variant.isOriginal ? hash : KeyedHash.combine(hash, KeyedHash.hash(variant.description))
    }

    /// The key of an original.
    public init(stringLiteral source: String) { self.init(source: source) }

    /// Keys are equal if source and variant have the same bytes.
    public static func == (one: ImageKey, other: ImageKey) -> Bool {
        // Swift's strings are equal too where only the bytes of an accent differ; those have other hashes.
        one.digest == other.digest && one.source == other.source && one.variant == other.variant
    }

    /// Hashes the digest of the key, which is computed only once.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The key of the source's original.
    public var original: ImageKey { variant.isOriginal ? self : ImageKey(source: source) }

    /// The source and the variant, without user info and query values of a URL.
    public var description: String {
        let source = URLDescription.redacted(source)
        return variant.isOriginal ? source : "\(source) [\(variant)]"
    }
}
