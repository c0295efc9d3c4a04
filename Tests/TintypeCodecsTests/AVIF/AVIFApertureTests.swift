#if AVIF
import CAVIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("AVIF clean apertures", .timeLimited)
struct AVIFApertureTests {
    /// A file that stores the pixels exactly, and asks for transforms.
    private func file(
        _ pixels: PixelBuffer, aperture: avifCropRect, turns: UInt8, mirror: UInt8?
    ) throws -> Data {
        let image = try #require(
            avifImageCreate(UInt32(pixels.width), UInt32(pixels.height), 8, AVIF_PIXEL_FORMAT_YUV444))
        defer { avifImageDestroy(image) }
        image.pointee.yuvRange = AVIF_RANGE_FULL
        image.pointee.matrixCoefficients = avifMatrixCoefficients(AVIF_MATRIX_COEFFICIENTS_IDENTITY)
        image.pointee.transferCharacteristics = avifTransferCharacteristics(AVIF_TRANSFER_CHARACTERISTICS_SRGB)
        image.pointee.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
        image.pointee.transformFlags = AVIF_TRANSFORM_CLAP.rawValue | AVIF_TRANSFORM_IROT.rawValue
        if let mirror {
            image.pointee.transformFlags |= AVIF_TRANSFORM_IMIR.rawValue
            image.pointee.imir.mode = mirror
        }
        image.pointee.irot.angle = turns
        var rect = aperture
        var diagnostics = avifDiagnostics()
        try #require(
            avifCleanApertureBoxConvertCropRect(
                &image.pointee.clap, &rect, image.pointee.width, image.pointee.height, AVIF_PIXEL_FORMAT_YUV444,
                &diagnostics) == AVIF_TRUE)
        var rgb = avifRGBImage()
        avifRGBImageSetDefaults(&rgb, image)
        var straight = pixels.straightPixels
        rgb.rowBytes = UInt32(pixels.width * 4)
        rgb.ignoreAlpha = AVIF_TRUE
        try straight.withUnsafeMutableBufferPointer {
            rgb.pixels = $0.baseAddress
            try #require(avifImageRGBToYUV(image, &rgb) == AVIF_RESULT_OK)
        }
        let encoder = try #require(avifEncoderCreate())
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.speed = 10
        (encoder.pointee.minQuantizer, encoder.pointee.maxQuantizer) = (0, 0)
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try #require(avifEncoderWrite(encoder, image, &output) == AVIF_RESULT_OK)
        return Data(bytes: try #require(output.data), count: output.size)
    }

    @Test(
        "What lies outside is cut off, before the picture is turned and mirrored",
        arguments: [0, 1, 2, 3] as [UInt8], [nil, 0, 1] as [UInt8?])
    func cut(turns: UInt8, mirror: UInt8?) throws {
        let stored = try RasterSamples.gradient(40, 300).pixels
        let data = try file(
            stored, aperture: avifCropRect(x: 5, y: 31, width: 21, height: 201), turns: turns, mirror: mirror)
        var expected = try RasterSamples.pixels(21, 201) { x, y in stored[x + 5, y + 31] }
        for _ in 0..<turns { expected = try expected.oriented(.left) }
        if let mirror { expected = try expected.oriented(mirror == 0 ? .downMirrored : .upMirrored) }
        let info = try AVIFCoder().info(data)
        #expect(info.size == PixelSize(width: 21, height: 201) && info.displaySize == expected.size)
        #expect(try AVIFCoder().decode(data).pixels == expected)
    }
}
#endif
