#if AVIF
import CAVIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("AVIF colors", .timeLimited)
struct AVIFColorTests {
    /// Writes planes without loss.
    private func file(_ noise: PlanarNoise, matrix: Int, isFullRange: Bool, profile: Data? = nil) throws -> Data {
        let format =
            switch noise.picture.layout {
            case .none: AVIF_PIXEL_FORMAT_YUV400
            case .full: AVIF_PIXEL_FORMAT_YUV444
            case .halfWidth: AVIF_PIXEL_FORMAT_YUV422
            case .half: AVIF_PIXEL_FORMAT_YUV420
            }
        let size = noise.picture.size
        let image = try #require(
            avifImageCreate(UInt32(size.width), UInt32(size.height), UInt32(noise.picture.bits), format))
        defer { avifImageDestroy(image) }
        image.pointee.yuvRange = isFullRange ? AVIF_RANGE_FULL : AVIF_RANGE_LIMITED
        image.pointee.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
        image.pointee.transferCharacteristics = avifTransferCharacteristics(AVIF_TRANSFER_CHARACTERISTICS_SRGB)
        image.pointee.matrixCoefficients = avifMatrixCoefficients(UInt16(matrix))
        profile?.withUnsafeBytes {
            avifImageSetProfileICC(image, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
        }
        try #require(avifImageAllocatePlanes(image, avifPlanesFlags(AVIF_PLANES_YUV.rawValue)) == AVIF_RESULT_OK)
        let planes = [image.pointee.yuvPlanes.0, image.pointee.yuvPlanes.1, image.pointee.yuvPlanes.2]
        let strides = [image.pointee.yuvRowBytes.0, image.pointee.yuvRowBytes.1, image.pointee.yuvRowBytes.2]
        for index in noise.numbers.indices {
            noise.write(index, to: try #require(planes[index]), bytesPerRow: Int(strides[index]))
        }
        let encoder = try #require(avifEncoderCreate())
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.minQuantizer = 0
        encoder.pointee.maxQuantizer = 0
        encoder.pointee.speed = 10
        encoder.pointee.maxThreads = 1
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try #require(avifEncoderWrite(encoder, image, &output) == AVIF_RESULT_OK)
        return Data(bytes: try #require(output.data), count: output.size)
    }

    @Test(
        "Planes become the colors of the standards, in all layouts, depths, matrices and ranges",
        arguments: [PlanarPicture.Chroma.none, .full, .halfWidth, .half], [8, 10, 12])
    func planes(layout: PlanarPicture.Chroma, bits: Int) throws {
        for (matrix, isFullRange) in [(1, false), (1, true), (6, false), (6, true), (9, false), (9, true), (4, false)] {
            let noise = PlanarNoise(37, 22, layout, bits: bits, seed: UInt64(bits + matrix))
            let data = try file(noise, matrix: matrix, isFullRange: isFullRange)
            noise.expectColors(try AVIFCoder().decode(data).pixels, matrix: matrix, isFullRange: isFullRange)
        }
        guard layout == .full else { return }
        for (matrix, isFullRange) in [(0, true), (8, true)] {
            let noise = PlanarNoise(37, 22, layout, bits: bits, seed: UInt64(bits + matrix))
            let data = try file(noise, matrix: matrix, isFullRange: isFullRange)
            noise.expectColors(try AVIFCoder().decode(data).pixels, matrix: matrix, isFullRange: isFullRange)
        }
    }

    @Test("The gray profile of an image without chroma is applied, also if the color space is to be kept")
    func gray() throws {
        let noise = PlanarNoise(16, 16, .none, bits: 8, seed: 3)
        let data = try file(noise, matrix: 1, isFullRange: true, profile: try ProfileSamples.linearGray())
        for keeps in [false, true] {
            let image = try AVIFCoder().decode(data) { $0.keepsColorSpace = keeps }
            #expect(image.colorSpace == .sRGB)
            for x in 0..<16 {
                let expected = TransferCurves.sRGBValue(Double(noise.numbers[0][x]) / 255) * 255
                #expect(abs(Double(image.pixels[x, 0].x) - expected) <= 1)
            }
        }
    }
}
#endif
