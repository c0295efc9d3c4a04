internal import FoundationEssentials

/// The properties of a stored thumbnail or transformed image that its own bytes don't tell, so that it comes back from disk as it
/// was stored.
struct StoredImageProperties: Codable {
    private var format: ImageFormat?
    private var scale: Double
    private var loopCount: Int
    private var bitsPerComponent: Int
    private var hasAlpha: Bool
    private var sourceSize: PixelSize?
    private var sourceOrientation: Orientation
    private var metadata: ImageMetadata
    private var isTransformed: Bool
    private var isVector: Bool

    init(_ properties: Image.Properties) {
        format = properties.format
        scale = properties.scale
        loopCount = properties.loopCount
        bitsPerComponent = properties.bitsPerComponent
        hasAlpha = properties.hasAlpha
        sourceSize = properties.sourceSize
        sourceOrientation = properties.sourceOrientation
        metadata = properties.metadata
        isTransformed = properties.isTransformed
        isVector = properties.isVector
    }

    /// Reads the output of ``encoded``; `nil` for other bytes.
    init?(_ data: Data) {
        guard let value = try? JSONDecoder().decode(Self.self, from: data) else { return nil }
        self = value
    }

    var encoded: Data? { try? JSONEncoder().encode(self) }

    /// The size of another thumbnail of the source, which the rounded sides of this one don't tell; `nil` if it isn't known, as for a drawing,
    /// whose sides are fractions.
    func size(under options: DecodeOptions) -> PixelSize? {
        isVector ? nil : sourceSize.map { options.outputSize(for: $0) }
    }

    /// Gives an image that was decoded from a stored variant the properties of the image that was stored.
    /// - Parameter options: The options of the request, which made the variant.
    func restored(_ image: Image, options: DecodeOptions) -> Image {
        image.with { properties in
            properties.format = format
            properties.scale = scale
            properties.loopCount = loopCount
            properties.bitsPerComponent = bitsPerComponent
            properties.hasAlpha = hasAlpha
            properties.sourceSize = sourceSize
            properties.sourceOrientation = sourceOrientation
            properties.metadata = metadata
            properties.isTransformed = isTransformed
            properties.isVector = isVector
            properties.decodeOptions = options
        }
    }
}
