/// The work that turns a source into an image, in canonical form: variants are equal if and only if the work is equal.
///
/// A custom cache that outlives the process stores them with `Codable`.
public struct ImageVariant: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The canonical form, such as `fit=400x300;transform=blur(radius=8)`; empty for the original.
    public let description: String

    /// Creates a variant from its canonical spelling, as a cache has it.
    package init(description: String) { self.description = description }

    /// The unchanged source, decoded at its full size.
    public static let original = ImageVariant(description: "")

    /// True if this is the unchanged source.
    public var isOriginal: Bool { description.isEmpty }

    /// The variant of decoding, transforming, and encoding a source.
    ///
    /// Every part is `name` or `name=value`; values are escaped, so that the parts can be told apart again.
    /// - Parameters:
    ///   - transformsAnimatedImages: True if the transformer is applied to the frames of animations.
    ///   - transformsVectorImages: True if the transformer is applied to vector images.
    ///   - coder: The identifier of the coder, in a manager with coders of its own.
    ///   - coderToken: Distinguishes a coder without an identifier; 0 for none.
    ///   - encoding: The encoding of a stored variant; `nil` if it isn't stored.
    package init(
        _ options: DecodeOptions, transformer: (any ImageTransformer)? = nil, transformsAnimatedImages: Bool = false,
        transformsVectorImages: Bool = false, coder: String? = nil, coderToken: Int = 0, encoding: EncodeOptions? = nil
    ) {
        var parts: [String] = []
        if let box = options.thumbnailSize, !box.isEmpty {
            let mode = options.coversThumbnailSize ? "cover" : options.preservesAspectRatio ? "fit" : "stretch"
            let isUpscaled = options.allowsUpscaling && !options.coversThumbnailSize
            parts.append("\(mode)=\(box)\(isUpscaled ? "^" : "")")
        }
        if let maximumBytes = options.maximumBytes { parts.append("bytes=\(maximumBytes.bytes)") }
        // At full size, quality makes no difference.
        if !parts.isEmpty, options.prefersFastThumbnail { parts.append("fast") }
        if options.page != 0 { parts.append("page=\(options.page)") }
        if options.firstFrameOnly { parts.append("firstFrame") }
        if options.keepsColorSpace { parts.append("sourceColor") }
        if options.decodeToHDR { parts.append("hdr") }
        if let scale = options.scale { parts.append("scale=\(scale)") }
        if let hint = options.formatHint { parts.append("as=\(VariantText.escaped(hint.rawValue))") }
        for settings in options.formatSettings.cacheKeys { parts.append("decode=\(VariantText.escaped(settings))") }
        if let coder { parts.append("coder=\(VariantText.escaped(coder))") }
        if coderToken != 0 { parts.append("coder#\(coderToken)") }
        if let keys = transformer?.componentKeys, !keys.isEmpty {
            let name = transformsAnimatedImages ? "transformFrames" : "transform"
            parts.append("\(name)=\(keys.map(VariantText.escaped).joined(separator: "|"))")
            if transformsVectorImages { parts.append("transformVectors") }
        }
        // An original is stored as it came, without encoding.
        if !parts.isEmpty, let encoding = encoding?.cacheKey, !encoding.isEmpty {
            parts.append("encode=\(VariantText.escaped(encoding))")
        }
        description = parts.joined(separator: ";")
    }

    /// The variant of the image in a format of the caller's choice.
    package func encoded(as format: ImageFormat, _ options: EncodeOptions) -> ImageVariant {
        let encoding = [VariantText.escaped(format.rawValue), options.cacheKey].filter { !$0.isEmpty }
        let part = Self.encoded + VariantText.escaped(encoding.joined(separator: ";"))
        return ImageVariant(description: isOriginal ? part : "\(description);\(part)")
    }

    /// True for the bytes of an image in any format.
    package func isEncoded(of image: ImageVariant) -> Bool {
        description.hasPrefix(image.isOriginal ? Self.encoded : "\(image.description);\(Self.encoded)")
    }

    private static let encoded = "encoded="
}
