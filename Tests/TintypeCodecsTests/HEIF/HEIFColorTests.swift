#if HEIF
import CHEIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("HEIF colors", .timeLimited)
struct HEIFColorTests {
    private func check(_ error: heif_error) throws {
        try #require(error.code == heif_error_Ok, "\(error.message.map { String(cString: $0) } ?? "")")
    }

    private func space(_ layout: PlanarPicture.Chroma) -> (heif_colorspace, heif_chroma, String?) {
        switch layout {
        case .none: (heif_colorspace_monochrome, heif_chroma_monochrome, nil)
        case .full: (heif_colorspace_YCbCr, heif_chroma_444, "444")
        case .halfWidth: (heif_colorspace_YCbCr, heif_chroma_422, "422")
        case .half: (heif_colorspace_YCbCr, heif_chroma_420, "420")
        }
    }

    /// Writes planes without loss.
    private func file(
        _ noise: PlanarNoise, matrix: Int, isFullRange: Bool, profile: Data? = nil, alpha: UInt8? = nil,
        isPremultiplied: Bool = false
    ) throws -> Data {
        let (space, chroma, name) = space(noise.picture.layout)
        let size = noise.picture.size
        var created: OpaquePointer?
        try check(heif_image_create(Int32(size.width), Int32(size.height), space, chroma, &created))
        let image = try #require(created)
        defer { heif_image_release(image) }
        let channels = [heif_channel_Y, heif_channel_Cb, heif_channel_Cr]
        for index in noise.numbers.indices {
            let (size, bits) = (noise.size(index), Int32(noise.picture.bits))
            try check(heif_image_add_plane(image, channels[index], Int32(size.width), Int32(size.height), bits))
            var stride: Int32 = 0
            let plane = try #require(heif_image_get_plane(image, channels[index], &stride))
            noise.write(index, to: plane, bytesPerRow: Int(stride))
        }
        if let alpha {
            try check(heif_image_add_plane(image, heif_channel_Alpha, Int32(size.width), Int32(size.height), 8))
            var stride: Int32 = 0
            let plane = try #require(heif_image_get_plane(image, heif_channel_Alpha, &stride))
            for y in 0..<size.height { (plane + y * Int(stride)).update(repeating: alpha, count: size.width) }
            heif_image_set_premultiplied_alpha(image, isPremultiplied ? 1 : 0)
        }
        try profile?.withUnsafeBytes {
            try check(heif_image_set_raw_color_profile(image, "prof", $0.baseAddress, $0.count))
        }
        let nclx = try #require(heif_nclx_color_profile_alloc())
        defer { heif_nclx_color_profile_free(nclx) }
        try check(heif_nclx_color_profile_set_color_primaries(nclx, 1))
        try check(heif_nclx_color_profile_set_transfer_characteristics(nclx, 13))
        try check(heif_nclx_color_profile_set_matrix_coefficients(nclx, UInt16(matrix)))
        nclx.pointee.full_range_flag = isFullRange ? 1 : 0
        try check(heif_image_set_nclx_color_profile(image, nclx))
        let context = try #require(heif_context_alloc())
        defer { heif_context_free(context) }
        var found: OpaquePointer?
        try check(heif_context_get_encoder_for_format(context, heif_compression_HEVC, &found))
        let encoder = try #require(found)
        defer { heif_encoder_release(encoder) }
        try check(heif_encoder_set_lossless(encoder, 1))
        if let name { try check(heif_encoder_set_parameter_string(encoder, "chroma", name)) }
        let settings = try #require(heif_encoding_options_alloc())
        defer { heif_encoding_options_free(settings) }
        settings.pointee.output_nclx_profile = nclx
        settings.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
        try check(heif_context_encode_image(context, image, encoder, settings, nil))
        var data = Data()
        var writer = heif_writer()
        writer.writer_api_version = 1
        writer.write = { _, bytes, count, data in
            if let bytes, let data {
                data.assumingMemoryBound(to: Data.self).pointee
                    .append(bytes.assumingMemoryBound(to: UInt8.self), count: count)
            }
            return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
        }
        try withUnsafeMutablePointer(to: &data) { try check(heif_context_write(context, &writer, $0)) }
        return data
    }

    @Test("Planes become the colors of the standards, in all layouts, matrices and ranges", arguments: [8, 10])
    func planes(bits: Int) throws {
        for layout in [PlanarPicture.Chroma.full, .halfWidth, .half] {
            for (matrix, isFullRange) in [(1, false), (1, true), (6, true), (9, false)] {
                // Even sizes, because libheif crops others.
                let noise = PlanarNoise(64, 48, layout, bits: bits, seed: UInt64(bits + matrix))
                let data = try file(noise, matrix: matrix, isFullRange: isFullRange)
                noise.expectColors(try HEIFCoder().decode(data).pixels, matrix: matrix, isFullRange: isFullRange)
            }
        }
    }

    @Test("Red, green and blue that are coded as they are keep their range", arguments: [true, false])
    func identity(isFullRange: Bool) throws {
        let noise = PlanarNoise(64, 48, .full, bits: 8, seed: 9)
        let data = try file(noise, matrix: 0, isFullRange: isFullRange)
        noise.expectColors(try HEIFCoder().decode(data).pixels, matrix: 0, isFullRange: isFullRange)
    }

    @Test("The gray profile of an image without chroma is applied, also if the color space is to be kept")
    func gray() throws {
        let noise = PlanarNoise(64, 64, .none, bits: 8, seed: 3)
        let data = try file(noise, matrix: 1, isFullRange: true, profile: try ProfileSamples.linearGray())
        for keeps in [false, true] {
            let image = try HEIFCoder().decode(data) { $0.keepsColorSpace = keeps }
            #expect(image.colorSpace == .sRGB)
            for x in 0..<64 {
                let expected = TransferCurves.sRGBValue(Double(noise.numbers[0][x]) / 255) * 255
                #expect(abs(Double(image.pixels[x, 0].x) - expected) <= 1)
            }
        }
    }

    @Test("Colors that the file has multiplied by alpha are not multiplied again", arguments: [true, false])
    func premultiplied(isPremultiplied: Bool) throws {
        let noise = PlanarNoise(64, 64, .none, bits: 8, seed: 4)
        let data = try file(noise, matrix: 1, isFullRange: true, alpha: 100, isPremultiplied: isPremultiplied)
        let image = try HEIFCoder().decode(data)
        #expect(image.hasAlpha)
        for x in 0..<64 {
            let number = noise.numbers[0][x]
            let expected = isPremultiplied ? min(number, 100) : (number * 100 + 127) / 255
            #expect(RasterSamples.distance(image.pixels[x, 0], SIMD4(SIMD3(repeating: UInt8(expected)), 100)) <= 1)
        }
    }
}
#endif
