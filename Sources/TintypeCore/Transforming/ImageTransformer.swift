/// Makes one image of another: resizes, crops, tints.
///
/// ```swift
/// struct Sepia: ImageTransformer {
///     let key = "sepia"
///     func transform(_ image: Image) throws -> Image { … }
/// }
/// ```
public protocol ImageTransformer: Sendable {
    /// What the result is cached by: equal keys promise equal work, so it has to name every parameter.
    var key: String { get }

    /// Makes the new image. Called on a thread of the processing pool.
    func transform(_ image: Image) throws -> Image
}

/// Transformers one after the other.
public struct ImageTransformers: ImageTransformer {
    public let transformers: [any ImageTransformer]

    public init(_ transformers: [any ImageTransformer]) { self.transformers = transformers }

    public var key: String { transformers.map(\.key).joined(separator: "|") }

    public func transform(_ image: Image) throws -> Image {
        try transformers.reduce(image) { image, transformer in try transformer.transform(image) }
    }
}

extension ImageTransformer {
    /// This transformer, then another.
    public func then(_ next: any ImageTransformer) -> ImageTransformers { ImageTransformers([self, next]) }
}

extension Image {
    /// The image that a transformer makes of this one.
    public func transformed(_ transformer: any ImageTransformer) throws -> Image {
        try transformer.transform(self).with { $0.isTransformed = true }
    }
}
