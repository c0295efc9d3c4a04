import Foundation
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

/// A file of each kind that this build reads, whose decoders differ.
enum FormatSample: String, CaseIterable, CustomTestStringConvertible {
    case jpeg, progressiveJPEG, turnedJPEG, png, interlacedPNG, profiledPNG, gif, interlacedGIF, webp, losslessWebP, bmp
    case runLengthBMP, ico
    case animatedPNG, animatedGIF, animatedWebP
    #if AVIF
    case avif, animatedAVIF
    #endif
    #if HEIF
    case heic
    #endif
    #if JXL
    case jxl, losslessJXL, animatedJXL
    #endif
    #if TIFF
    case tiff
    #endif

    var testDescription: String { rawValue }

    static let animated: [FormatSample] = allCases.filter { $0.rawValue.hasPrefix("animated") }
    static let size = PixelSize(width: 160, height: 120)
    static let frameCount = 20

    static let coders: ImageCoders = {
        let png = PNGCoder()
        var coders = ImageCoders([ICOCoder(png: png), BMPCoder(), WebPCoder(), GIFCoder(), png, JPEGCoder()])
        #if AVIF
        coders.add(AVIFCoder())
        #endif
        #if HEIF
        coders.add(HEIFCoder())
        #endif
        #if JXL
        coders.add(JXLCoder())
        #endif
        #if TIFF
        coders.add(TIFFCoder())
        #endif
        return coders
    }()

    // Arrays: a sanitizer would take bytes of `Data` that are kept for lost ones.
    private static let made = Lock<[FormatSample: [UInt8]]>([:])

    /// The file, which the first test that asks makes for all.
    func data() throws -> Data {
        if let bytes = Self.made.withLock({ $0[self] }) { return Data(bytes) }
        let data = try make()
        Self.made.withLock { $0[self] = Array(data) }
        return data
    }

    private func make() throws -> Data {
        switch self {
        case .jpeg: try encode(.jpeg)
        case .progressiveJPEG: try encode(.jpeg) { $0.progressive = true }
        case .turnedJPEG:
            try encode(.jpeg).addingSegment(0xE1, Array("Exif\0\0".utf8) + RasterSamples.exif(6, littleEndian: true))
        case .png: try encode(.png)
        case .interlacedPNG: try encode(.png) { $0.progressive = true }
        case .profiledPNG: try encode(.png, profile: try ProfileSamples.wide())
        case .gif: try encode(.gif)
        case .interlacedGIF: Self.interlacedGIF()
        case .webp: try encode(.webp)
        case .losslessWebP: try encode(.webp) { $0.lossless = true }
        case .bmp: try encode(.bmp)
        case .runLengthBMP: Self.runLengths()
        case .ico: Self.icon(try encode(.bmp, alpha: true))
        case .animatedPNG: try Self.animation(.png)
        case .animatedGIF: try Self.animation(.gif)
        case .animatedWebP: try Self.animation(.webp)
        #if AVIF
        case .avif: try encode(.avif)
        case .animatedAVIF: try Self.animation(.avif)
        #endif
        #if HEIF
        case .heic: try encode(.heic)
        #endif
        #if JXL
        case .jxl: try encode(.jxl)
        case .losslessJXL: try encode(.jxl) { $0.lossless = true }
        case .animatedJXL: try Self.animation(.jxl)
        #endif
        #if TIFF
        case .tiff: try encode(.tiff)
        #endif
        }
    }

    private func encode(
        _ format: ImageFormat, alpha: Bool = false, profile: Data? = nil,
        _ change: (inout EncodeOptions) -> Void = { _ in }
    ) throws -> Data {
        var generator = SeededRandom(seed: 5)
        let picture = try RasterSamples.image(Self.size.width, Self.size.height, hasAlpha: alpha) { x, y in
            SIMD4(UInt8(x), UInt8(y * 2), UInt8.random(in: 0...255, using: &generator), 255)
        }
        var options = EncodeOptions()
        change(&options)
        let image = picture.with { if let profile { $0.colorSpace = ColorSpace(name: "wide", profile: profile) } }
        return try Self.coders.encode(image, as: format, options: options)
    }

    /// Frames that differ from each other here and there, some wholly.
    static func animation(_ format: ImageFormat, frameCount: Int = frameCount, size: PixelSize = size) throws -> Data {
        let frames = try (0..<frameCount).map { index in
            ImageFrame(
                pixels: try RasterSamples.pixels(size.width, size.height) { x, y in
                    if index % 7 == 3 { return SIMD4(UInt8(index * 9), 40, 60, 255) }
                    return (x - index * 5).magnitude < 12
                        ? SIMD4(200, UInt8(y), 30, 255) : SIMD4(UInt8(x), 90, UInt8(y), 255)
                }, duration: .milliseconds(40 + index * 10))
        }
        var options = EncodeOptions()
        options.lossless = true
        let image = try #require(Image(frames: frames)).with { $0.hasAlpha = false }
        return try coders.encode(image, as: format, options: options)
    }

    static func interlacedGIF(_ size: PixelSize = size, count: Int? = nil) -> Data {
        var gif = TestGIF(size.width, size.height)
        let order = GIFRowOrder(height: size.height, isInterlaced: true)
        let indices = (0..<size.height).flatMap { stored in
            (0..<size.width).map { x in UInt8((order.row(stored) / 10 + x / 16) % 3) }
        }
        gif.frame((0, 0, size.width, size.height), indices, interlaced: true)
        return gif.data
    }

    /// A bitmap of 8 bits with run lengths: rows of one color each.
    private static func runLengths() -> Data {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> ($0 * 8) & 0xFF) } }
        let palette = (0..<256).flatMap { level -> [UInt8] in [UInt8(level), UInt8(255 - level), 7, 0] }
        let rows = (0..<size.height).flatMap { y -> [UInt8] in [UInt8(size.width), UInt8(y), 0, 0] } + [0, 1]
        let offset = 14 + 40 + palette.count
        var file = Array("BM".utf8) + little(offset + rows.count, 4) + little(0, 4) + little(offset, 4)
        file += little(40, 4) + little(size.width, 4) + little(size.height, 4) + little(1, 2) + little(8, 2)
        file += little(1, 4) + little(rows.count, 4) + little(0, 16)
        return Data(file + palette + rows)
    }

    /// An icon around the pixels of a bitmap of 32 bits, with an empty mask.
    private static func icon(_ bitmap: Data) -> Data {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> ($0 * 8) & 0xFF) } }
        let offset = Int(bitmap[10]) | Int(bitmap[11]) << 8
        let mask = [UInt8](repeating: 0, count: (size.width + 31) / 32 * 4 * size.height)
        var image = little(40, 4) + little(size.width, 4) + little(size.height * 2, 4) + little(1, 2) + little(32, 2)
        image += little(0, 24) + [UInt8](bitmap.dropFirst(offset)) + mask
        let entry = [UInt8(size.width), UInt8(size.height), 0, 0] + little(1, 2) + little(32, 2)
        return Data(little(0, 2) + little(1, 2) + little(1, 2) + entry + little(image.count, 4) + little(22, 4) + image)
    }
}
