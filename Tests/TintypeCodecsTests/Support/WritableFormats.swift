import Foundation
import TintypeImages

@testable import TintypeCodecs

/// The formats that this build writes, and their coders.
enum WritableFormats {
    static let coders = ImageCoders(
        [JPEGCoder(), PNGCoder(), GIFCoder(), WebPCoder(), BMPCoder()] + avif + heif + jxl + tiff)
    static let all = ImageFormat.known.filter(coders.encodableFormats.contains)
    /// Those that hold Exif, XMP and a color profile.
    static let withMetadata = all.filter { ![.gif, .bmp].contains($0) }
    static let animated = all.filter { [.png, .gif, .webp, .avif, .jxl].contains($0) }
    /// Those that lower a quality to keep to a number of bytes.
    static let withLoss = all.filter { [.jpeg, .webp, .avif, .heic, .jxl].contains($0) }

    #if AVIF
    private static let avif: [any ImageCoder] = [AVIFCoder()]
    #else
    private static let avif: [any ImageCoder] = []
    #endif
    #if HEIF
    private static let heif: [any ImageCoder] = [HEIFCoder()]
    #else
    private static let heif: [any ImageCoder] = []
    #endif
    #if JXL
    private static let jxl: [any ImageCoder] = [JXLCoder()]
    #else
    private static let jxl: [any ImageCoder] = []
    #endif
    #if TIFF
    private static let tiff: [any ImageCoder] = [TIFFCoder()]
    #else
    private static let tiff: [any ImageCoder] = []
    #endif

    static func encode(
        _ image: Image, as format: ImageFormat, _ change: (inout EncodeOptions) -> Void = { _ in }
    ) throws -> Data {
        var options = EncodeOptions()
        change(&options)
        return try coders.encode(image, as: format, options: options)
    }

    static func decode(_ data: Data, _ change: (inout DecodeOptions) -> Void = { _ in }) throws -> Image {
        try coders.decode(data, change)
    }
}
