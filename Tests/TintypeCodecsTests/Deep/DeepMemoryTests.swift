import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

/// A file of each kind that this build decodes to more than 8 bits.
enum DeepFile: String, CaseIterable {
    case png, interlacedPNG, turnedPNG
    #if AVIF
    case avif, brightAVIF
    #endif
    #if HEIF
    case heic, brightHEIC
    #endif
    #if JXL
    case jxl, brightJXL
    #endif
    #if TIFF
    case tiff
    #endif

    private var format: ImageFormat {
        switch self {
        case .png, .interlacedPNG, .turnedPNG: .png
        #if AVIF
        case .avif, .brightAVIF: .avif
        #endif
        #if HEIF
        case .heic, .brightHEIC: .heic
        #endif
        #if JXL
        case .jxl, .brightJXL: .jxl
        #endif
        #if TIFF
        case .tiff: .tiff
        #endif
        }
    }

    func data() throws -> Data {
        let isBright = rawValue.hasPrefix("bright")
        let image = try isBright ? DeepSamples.ramp(160, 120) : DeepSamples.gradient(160, 120)
        var options = EncodeOptions(quality: 0.9)
        options.encodeToHDR = .isoHDR
        options.progressive = self == .interlacedPNG
        let data = try FormatSample.coders.encode(image, as: format, options: options, context: ProcessingContext())
        guard self == .turnedPNG else { return data }
        let chunk = HandmadePNG.chunk("eXIf", RasterSamples.exif(6, littleEndian: true))
        return data.prefix(33) + chunk + data.dropFirst(33)
    }
}

@Suite("The memory of more than 8 bits", .timeLimited)
struct DeepMemoryTests {
    @Test(
        "What a decode to more than 8 bits reserves is at least what it takes", .capability("3.1"),
        arguments: DeepFile.allCases)
    func reservation(file: DeepFile) throws {
        let data = try file.data()
        for side in [nil, 40, 400] as [Int?] {
            let pool = PixelBufferPool(limit: 0)
            let budget = DecodeBudget(limit: .gigabytes(1))
            var options = DecodeOptions()
            options.decodeToHDR = true
            options.allowsUpscaling = true
            options.thumbnailSize = side.map { PixelSize(width: $0, height: $0) }
            let image = try FormatSample.coders.decode(
                data, options: options, context: ProcessingContext(pool: pool, budget: budget))
            #expect(image.pixels.format.bytesPerPixel == 8)
            let (taken, reserved) = (pool.statistics.peakBytes, budget.statistics.peakBytes)
            #expect(taken > 0 && taken <= reserved, "\(side ?? 0): \(taken) of \(reserved)")
            #expect(reserved <= taken * 16 + 500_000, "\(side ?? 0): \(taken) of \(reserved)")
            #expect(budget.statistics.reservedBytes == 0)
        }
    }

    @Test("A limit of bytes counts eight bytes to a pixel", .capability("COD-17"), arguments: DeepFile.allCases)
    func maximumBytes(file: DeepFile) throws {
        let data = try file.data()
        var options = DecodeOptions()
        options.decodeToHDR = true
        let full = try FormatSample.coders.decode(data, options: options, context: ProcessingContext())
        options.maximumBytes = 20_000
        let image = try FormatSample.coders.decode(data, options: options, context: ProcessingContext())
        #expect(image.pixels.format == full.pixels.format && image.size.pixelCount * 8 <= 20_000)
        #expect(image.size == full.size.scaled(toBytes: 20_000, bytesPerPixel: 8))
    }
}
