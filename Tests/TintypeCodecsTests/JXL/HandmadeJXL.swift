#if JXL
import CJXL
import Foundation
import Testing

/// Files of one color, with settings of libjxl that the coder doesn't write.
struct HandmadeJXL {
    /// As the file stores it, with alpha; from 0 to 1.
    var pixel: SIMD4<Float>
    var bits: UInt32 = 16
    var isLossless = true
    var isPremultiplied = false
    var color: JxlColorEncoding

    init(_ pixel: SIMD4<Float>) {
        self.pixel = pixel
        color = JxlColorEncoding()
        JxlColorEncodingSetToSRGB(&color, 0)
    }

    /// A file of 16x16 pixels.
    func data() throws -> Data {
        let encoder = try #require(JxlEncoderCreate(nil))
        defer { JxlEncoderDestroy(encoder) }
        var basic = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&basic)
        (basic.xsize, basic.ysize, basic.bits_per_sample, basic.num_color_channels) = (16, 16, bits, 3)
        (basic.num_extra_channels, basic.alpha_bits) = (1, bits)
        basic.uses_original_profile = isLossless ? 1 : 0
        try #require(JxlEncoderSetBasicInfo(encoder, &basic) == JXL_ENC_SUCCESS)
        var color = color
        try #require(JxlEncoderSetColorEncoding(encoder, &color) == JXL_ENC_SUCCESS)
        let settings = try #require(JxlEncoderFrameSettingsCreate(encoder, nil))
        if isLossless {
            try #require(JxlEncoderSetFrameLossless(settings, 1) == JXL_ENC_SUCCESS)
        } else {
            try #require(JxlEncoderSetFrameDistance(settings, 0.1) == JXL_ENC_SUCCESS)
        }
        let pixels = [SIMD4<Float>](repeating: pixel, count: 256)
        var format = JxlPixelFormat(num_channels: 4, data_type: JXL_TYPE_FLOAT, endianness: JXL_NATIVE_ENDIAN, align: 0)
        try #require(JxlEncoderAddImageFrame(settings, &format, pixels, 256 * 16) == JXL_ENC_SUCCESS)
        JxlEncoderCloseInput(encoder)
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let written = try bytes.withUnsafeMutableBufferPointer { buffer in
            var (next, room) = (buffer.baseAddress, buffer.count)
            try #require(JxlEncoderProcessOutput(encoder, &next, &room) == JXL_ENC_SUCCESS)
            return buffer.count - room
        }
        let data = Data(bytes.prefix(written))
        return isPremultiplied ? try Self.premultiplied(data) : data
    }

    /// The same file with the one bit that says so: libjxl 0.7 can't write it, because its encoder looks for the bit in the wrong place.
    private static func premultiplied(_ data: Data) throws -> Data {
        var wanted = try #require(info(data))
        wanted.alpha_premultiplied = 1
        for bit in 0..<8 * min(data.count, 200) {
            var other = data
            other[bit / 8] ^= 1 << (bit % 8)
            if var found = info(other), memcmp(&found, &wanted, MemoryLayout<JxlBasicInfo>.size) == 0 { return other }
        }
        struct NoBit: Error {}
        throw NoBit()
    }

    private static func info(_ data: Data) -> JxlBasicInfo? {
        guard let decoder = JxlDecoderCreate(nil) else { return nil }
        defer { JxlDecoderDestroy(decoder) }
        return data.withUnsafeBytes { bytes in
            var info = JxlBasicInfo()
            guard JxlDecoderSubscribeEvents(decoder, Int32(JXL_DEC_BASIC_INFO.rawValue)) == JXL_DEC_SUCCESS,
                JxlDecoderSetInput(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
                    == JXL_DEC_SUCCESS,
                JxlDecoderProcessInput(decoder) == JXL_DEC_BASIC_INFO,
                JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS
            else { return nil }
            return info
        }
    }
}
#endif
