#if JXL
import CJXL
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("JPEG XL in inks", .timeLimited)
struct JXLInkTests {
    /// Cyan, magenta, yellow and black, where 0 is no ink and 1 all of it, and what is seen.
    private let inks: [(ink: [Int], color: SIMD4<UInt8>)] = [
        ([0, 0, 0, 0], [255, 255, 255, 255]), ([1, 0, 0, 0], [0, 255, 255, 255]), ([0, 1, 0, 0], [255, 0, 255, 255]),
        ([0, 0, 1, 0], [255, 255, 0, 255]), ([1, 1, 0, 0], [0, 0, 255, 255]), ([0, 0, 0, 1], [0, 0, 0, 255]),
        ([1, 0, 1, 1], [0, 0, 0, 255]),
    ]

    @Test("CMYK becomes sRGB by its profile, with 8 bits and with 16", arguments: [8, 16])
    func ink(bits: Int) throws {
        let data = try file(bits: bits)
        let image = try JXLCoder().decode(data) { $0.decodeToHDR = true }
        #expect(image.pixels.format == (bits == 8 ? .rgba8 : .rgba16) && !image.hasAlpha)
        let shallow = try image.pixels.converted(to: .rgba8)
        for (x, sample) in inks.enumerated() {
            #expect(RasterSamples.distance(shallow[x, 0], sample.color) <= 3, "\(sample): \(shallow[x, 0])")
        }
        #expect(try JXLCoder().decode(data).pixels.format == .rgba8)
        #expect(try JXLCoder().decode(data) { $0.keepsColorSpace = true }.colorSpace == .sRGB)
    }

    private func file(bits: Int) throws -> Data {
        // In the file 0 is all the ink there is.
        func plane(_ components: Range<Int>) -> [UInt8] {
            inks.flatMap { sample in
                components.flatMap { [UInt8](repeating: sample.ink[$0] == 1 ? 0 : 255, count: bits / 8) }
            }
        }
        let encoder = try #require(JxlEncoderCreate(nil))
        defer { JxlEncoderDestroy(encoder) }
        var basic = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&basic)
        basic.xsize = UInt32(inks.count)
        basic.ysize = 1
        basic.bits_per_sample = UInt32(bits)
        basic.num_color_channels = 3
        basic.num_extra_channels = 1
        basic.uses_original_profile = 1
        try #require(JxlEncoderSetCodestreamLevel(encoder, 10) == JXL_ENC_SUCCESS)
        try #require(JxlEncoderSetBasicInfo(encoder, &basic) == JXL_ENC_SUCCESS)
        var channel = JxlExtraChannelInfo()
        JxlEncoderInitExtraChannelInfo(JXL_CHANNEL_BLACK, &channel)
        channel.bits_per_sample = UInt32(bits)
        try #require(JxlEncoderSetExtraChannelInfo(encoder, 0, &channel) == JXL_ENC_SUCCESS)
        let profile = [UInt8](try ProfileSamples.inks())
        try #require(JxlEncoderSetICCProfile(encoder, profile, profile.count) == JXL_ENC_SUCCESS)
        let settings = try #require(JxlEncoderFrameSettingsCreate(encoder, nil))
        try #require(JxlEncoderSetFrameLossless(settings, 1) == JXL_ENC_SUCCESS)
        var format = JxlPixelFormat(
            num_channels: 3, data_type: bits == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16, endianness: JXL_NATIVE_ENDIAN,
            align: 0)
        let (colors, black) = (plane(0..<3), plane(3..<4))
        try #require(JxlEncoderAddImageFrame(settings, &format, colors, colors.count) == JXL_ENC_SUCCESS)
        format.num_channels = 1
        try #require(
            JxlEncoderSetExtraChannelBuffer(settings, &format, black, black.count, 0) == JXL_ENC_SUCCESS)
        JxlEncoderCloseInput(encoder)
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let room = bytes.count
        let left = try bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            var left = room
            try #require(JxlEncoderProcessOutput(encoder, &next, &left) == JXL_ENC_SUCCESS)
            return left
        }
        return Data(bytes.prefix(room - left))
    }
}
#endif
