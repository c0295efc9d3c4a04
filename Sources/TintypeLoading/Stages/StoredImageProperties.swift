internal import FoundationEssentials

/// The properties of a stored thumbnail or transformed image that its own bytes don't tell, so that it comes back from disk as it
/// was stored.
struct StoredImageProperties: Codable {
    private var format: String?
    private var scale: Double
    private var loopCount: Int
    private var bitsPerComponent: Int
    private var hasAlpha: Bool
    private var sourceSize: [Int]?
    private var sourceOrientation: Int
    private var exif: Data?
    private var xmp: Data?
    private var iptc: Data?
    private var iptcDigest: Data?
    private var isTransformed: Bool
    private var isVector: Bool

    init(_ properties: Image.Properties) {
        format = properties.format?.rawValue
        scale = properties.scale
        loopCount = properties.loopCount
        bitsPerComponent = properties.bitsPerComponent
        hasAlpha = properties.hasAlpha
        sourceSize = properties.sourceSize.map { [$0.width, $0.height] }
        sourceOrientation = Int(properties.sourceOrientation.rawValue)
        exif = properties.metadata.exif
        xmp = properties.metadata.xmp
        iptc = properties.metadata.iptc
        iptcDigest = properties.metadata.iptcDigest
        isTransformed = properties.isTransformed
        isVector = properties.isVector
    }

    /// Reads the output of ``encoded``; `nil` for other bytes.
    init?(_ data: Data) {
        guard let value = try? JSONDecoder().decode(Self.self, from: data) else { return nil }
        self = value
    }

    var encoded: Data? { try? JSONEncoder().encode(self) }

    /// Gives an image that was decoded from a stored variant the properties of the image that was stored.
    /// - Parameter options: The options of the request, which made the variant.
    func restored(_ image: Image, options: DecodeOptions) -> Image {
        image.with { properties in
            properties.format = format.map { ImageFormat(rawValue: $0) }
            properties.scale = scale
            properties.loopCount = loopCount
            properties.bitsPerComponent = bitsPerComponent
            properties.hasAlpha = hasAlpha
            if let size = sourceSize, size.count == 2 {
                properties.sourceSize = PixelSize(width: size[0], height: size[1])
            } else {
                properties.sourceSize = nil
            }
            properties.sourceOrientation = Orientation(rawValue: .init(sourceOrientation)) ?? .up
            properties.metadata = ImageMetadata(exif: exif, xmp: xmp, iptc: iptc)
            properties.metadata.iptcDigest = iptcDigest
            properties.isTransformed = isTransformed
            properties.isVector = isVector
            properties.decodeOptions = options
        }
    }
}
