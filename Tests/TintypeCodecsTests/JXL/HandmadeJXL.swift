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
        basic.alpha_premultiplied = isPremultiplied ? 1 : 0
        basic.uses_original_profile = isLossless ? 1 : 0
        try #require(JxlEncoderSetBasicInfo(encoder, &basic) == JXL_ENC_SUCCESS)
        // The encoder writes that of the channel, and not that of the image.
        var alpha = JxlExtraChannelInfo()
        JxlEncoderInitExtraChannelInfo(JXL_CHANNEL_ALPHA, &alpha)
        (alpha.bits_per_sample, alpha.alpha_premultiplied) = (bits, basic.alpha_premultiplied)
        try #require(JxlEncoderSetExtraChannelInfo(encoder, 0, &alpha) == JXL_ENC_SUCCESS)
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
        return Data(bytes.prefix(written))
    }
}
#endif
