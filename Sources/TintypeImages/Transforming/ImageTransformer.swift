/// A type that creates a new image from an image, for example by resizing, cropping or tinting it.
///
/// ```swift
/// struct Halved: ImageTransformer {
///     let key = "halved"
///
///     func transform(_ image: Image) throws -> Image {
///         try image.resized(to: PixelSize(width: (image.size.width + 1) / 2, height: (image.size.height + 1) / 2))
///     }
/// }
/// ```
public protocol ImageTransformer: Sendable {
    /// The part of the cache key for this transformation. Equal keys must mean equal results, so the key has to contain every parameter. A
    /// load with an empty key is rejected.
    var key: String { get }

    /// True if the result keeps the metadata that the transformer doesn't set: format, Exif and XMP, source size and
    /// orientation, color space, decode options. The default is `true`.
    var preservesMetadata: Bool { get }

    /// The size at which to decode a source for this transformer, such as twice the size of its result; `nil`, the default, for the full
    /// size.
    ///
    /// If a load's first transformer has such a size, the load decodes a larger source at a reduced size: the proportions are preserved,
    /// and both sides are at least as long as these. A side of 1 follows the other side. The result of the transformer must look the same.
    var suggestedDecodeSize: PixelSize? { get }

    /// Returns the new image. Called on a thread of the processing queue.
    ///
    /// ``ProcessingContext/current`` has limits, memory, and a check for cancellation.
    /// - Parameter image: the decoded image.
    /// - Returns: the transformed image.
    /// - Throws: any error; the load then fails with ``ImageError/Code/transformFailed``. Only an ``ImageError`` is passed on unchanged,
    ///   with its own code and without the name of the transformer. Throw ``ImageError/Code/cancelled`` only in a canceled task.
    func transform(_ image: Image) throws -> Image
}

extension ImageTransformer {
    public var preservesMetadata: Bool { true }

    public var suggestedDecodeSize: PixelSize? { nil }

    /// The keys of the component transformers, in order.
    package var componentKeys: [String] { (self as? ImageTransformers)?.transformers.map(\.key) ?? [key] }

    /// True if any component has an empty key.
    package var hasEmptyKey: Bool { componentKeys.contains("") }
}

/// A sequence of transformers, applied in order.
public struct ImageTransformers: ImageTransformer {
    /// The transformers, without nested sequences.
    package let transformers: [any ImageTransformer]

    /// Creates a sequence.
    /// - Parameter transformers: the transformers, in the order of their application.
    public init(_ transformers: [any ImageTransformer]) {
        self.transformers = transformers.flatMap { ($0 as? ImageTransformers)?.transformers ?? [$0] }
    }

    /// The escaped keys of the transformers, separated by `|`.
    public var key: String { transformers.map { VariantText.escaped($0.key) }.joined(separator: "|") }

    /// True if all of the transformers preserve metadata.
    public var preservesMetadata: Bool { transformers.allSatisfy(\.preservesMetadata) }

    /// The suggested size of the first transformer.
    public var suggestedDecodeSize: PixelSize? { transformers.first?.suggestedDecodeSize }

    public func transform(_ image: Image) throws -> Image {
        try transformers.reduce(image) { image, transformer in try image.applying(transformer) }
    }
}

/// A transformer that calls a closure.
package struct ClosureTransformer: ImageTransformer {
    package let key: String
    package let preservesMetadata: Bool
    private let body: @Sendable (Image) throws -> Image

    /// Creates a transformer that calls `body`.
    /// - Parameters:
    ///   - key: the part of the cache key that names the work and all of its parameters; not empty.
    ///   - preservesMetadata: true if the result keeps the metadata of its source.
    ///   - body: returns the new image.
    package init(key: String, preservesMetadata: Bool = true, _ body: @escaping @Sendable (Image) throws -> Image) {
        self.key = key
        self.preservesMetadata = preservesMetadata
        self.body = body
    }

    package func transform(_ image: Image) throws -> Image { try body(image) }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that calls a closure.
    /// - Parameters:
    ///   - key: the part of the cache key that identifies the work.
    ///   - body: a closure that transforms an image.
    public static func closure(
        key: String, _ body: @escaping @Sendable (Image) throws -> Image
    ) -> ImageTransformers { ImageTransformers([ClosureTransformer(key: key, body)]) }
}

extension ImageTransformer {
    /// Returns a transformer that makes the same pixels, but removes the metadata that the transformer preserves: the result has no format,
    /// no Exif and XMP, no source size and orientation, and no decode options.
    public func withoutMetadata() -> some ImageTransformer { TransformerWithoutMetadata(base: self) }

    /// Returns a sequence of this transformer and another one.
    /// - Parameter next: the transformer to apply afterwards.
    public func then(_ next: any ImageTransformer) -> ImageTransformers { ImageTransformers([self, next]) }
}
