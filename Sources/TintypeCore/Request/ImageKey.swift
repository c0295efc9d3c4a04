/// What an image is known by in the caches: where it comes from, and what was made of it.
public struct ImageKey: Hashable, Sendable, CustomStringConvertible {
    /// The source: the URL's absolute string, or what the program puts in its place (``ImageRequest/cacheKey``).
    public let source: String
    /// What was made of the source.
    public let variant: ImageVariant
    /// A hash of both, made once: a key is looked up more than once on the way of an image. Differs from process to process.
    let digest: UInt64

    public init(source: String, variant: ImageVariant = .original) {
        self.source = source
        self.variant = variant
        let hash = KeyedHash.hash(source)
        digest =
            variant.isOriginal ? hash : KeyedHash.combine(hash, KeyedHash.hash(variant.description))
    }

    /// Keys are equal if source and variant are spelt with the same bytes.
    public static func == (one: ImageKey, other: ImageKey) -> Bool {
        // Swift's strings are equal too where only the bytes of an accent differ; those have other hashes.
        one.digest == other.digest && one.source == other.source && one.variant == other.variant
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The key of the source as it came.
    public var original: ImageKey { ImageKey(source: source) }

    /// The key of what decoding with the options makes of what is under this key; this key itself for the default options.
    public func decoded(with options: DecodeOptions) -> ImageKey {
        guard options != DecodeOptions() else { return self }
        let made = ImageVariant(options)
        guard !made.isOriginal else { return self }
        return ImageKey(
            source: source,
            variant: variant.isOriginal ? made : ImageVariant(description: "\(variant);\(made)"))
    }

    /// The last part of the source's path, which may tell what the bytes are.
    var name: String { FileName.last(of: source) }

    public var description: String { variant.isOriginal ? source : "\(source) [\(variant)]" }
}

/// What was made of a source, in one canonical spelling: equal work has equal variants, and different work never.
public struct ImageVariant: Hashable, Sendable, CustomStringConvertible {
    /// The canonical spelling, such as `fit=400x300;transform=blur(8.0)`; empty for the original.
    public let description: String

    /// The variant with a canonical spelling, as read back from a cache's index.
    package init(description: String) { self.description = description }

    /// The source as it came, decoded at its full size.
    public static let original = ImageVariant(description: "")

    public var isOriginal: Bool { description.isEmpty }

    /// What decoding with the options, and then transforming, makes of a source.
    public init(_ options: DecodeOptions, transformer: String? = nil) {
        var parts: [String] = []
        if let box = options.thumbnailSize, !box.isEmpty {
            let mode = options.preservesAspectRatio ? "fit" : "stretch"
            parts.append("\(mode)=\(box)\(options.allowsUpscaling ? "^" : "")")
        }
        if let maximumBytes = options.maximumBytes { parts.append("bytes=\(maximumBytes.bytes)") }
        // At full size there is nothing to be fast about.
        if !parts.isEmpty, options.thumbnailQuality == .fast { parts.append("fast") }
        if options.firstFrameOnly { parts.append("firstFrame") }
        if options.allowsPartialImage { parts.append("partial") }
        if options.keepsColorSpace { parts.append("sourceColor") }
        if options.decodeToHDR { parts.append("hdr") }
        if options.scale != 1 { parts.append("scale=\(options.scale)") }
        if let hint = options.formatHint { parts.append("as=\(hint)") }
        if let transformer, !transformer.isEmpty { parts.append("transform=\(transformer)") }
        description = parts.joined(separator: ";")
    }
}
