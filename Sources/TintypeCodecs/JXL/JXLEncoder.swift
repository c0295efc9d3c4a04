#if JXL
internal import CJXL
internal import FoundationEssentials
internal import Glibc
internal import TintypeCore

/// Writes a JPEG XL file with libjxl.
struct JXLEncoder {
    /// The format has no such limit; no decoder takes more.
    static let maximumSide = 1 << 18

    let source: Image
    let options: EncodeOptions
    /// An ICC profile to put into the file.
    let profile: Data?

    /// From 1, fastest, to 9. At 5 a megapixel takes about half a second of one core.
    private static let effort: Int64 = 5

    /// The file; of the highest quality up to the one that is asked for that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        try EncodePreparation.fit(
            quality: options.lossless ? 100 : options.percent, maximumBytes: options.maximumBytes, as: .jxl
        ) { quality throws(ImageError) in
            // Without loss there is no lower quality to try.
            guard !options.lossless || quality == 100 else { return nil }
            return try file(quality: quality)
        }
    }

    /// The distance, in just noticeable differences, that libjxl's own tools take for a quality of JPEG.
    static func distance(quality: Int) -> Float {
        quality >= 30 ? 0.1 + Float(100 - quality) * 0.09 : 6.4 + powf(2.5, Float(30 - quality) / 5) / 6.25
    }

    private var samples: JXLSamples { JXLSamples(source) }

    private func file(quality: Int) throws(ImageError) -> Data {
        guard let encoder = JxlEncoderCreate(nil) else { throw failure("libjxl has no memory for an encoder") }
        defer { JxlEncoderDestroy(encoder) }
        try setImage(encoder)
        guard let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else {
            throw failure("libjxl has no memory for an encoder")
        }
        try check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, Self.effort))
        if options.lossless {
            try check(JxlEncoderSetFrameLossless(settings, 1))
        } else {
            try check(JxlEncoderSetFrameDistance(settings, min(15, Self.distance(quality: quality))))
        }
        var format = JxlPixelFormat(
            num_channels: source.hasAlpha ? 4 : 3, data_type: samples.type, endianness: JXL_NATIVE_ENDIAN, align: 0)
        for frame in source.frames {
            if source.frames.count > 1 {
                var header = JxlFrameHeader()
                JxlEncoderInitFrameHeader(&header)
                header.duration = UInt32(max(0, min(frame.duration.inMilliseconds, 3_600_000).rounded()))
                try check(JxlEncoderSetFrameHeader(settings, &header))
            }
            let bytes = samples.bytes(of: frame.pixels)
            try check(JxlEncoderAddImageFrame(settings, &format, bytes, bytes.count))
        }
        JxlEncoderCloseInput(encoder)
        return try output(encoder)
    }

    private func setImage(_ encoder: OpaquePointer) throws(ImageError) {
        var basic = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&basic)
        basic.xsize = UInt32(source.size.width)
        basic.ysize = UInt32(source.size.height)
        basic.bits_per_sample = samples.bits
        basic.exponent_bits_per_sample = samples.exponentBits
        basic.num_color_channels = 3
        basic.alpha_bits = source.hasAlpha ? samples.bits : 0
        basic.alpha_exponent_bits = source.hasAlpha ? samples.exponentBits : 0
        basic.num_extra_channels = source.hasAlpha ? 1 : 0
        // Without loss, pixels stay in the colours that they are in.
        basic.uses_original_profile = options.lossless ? 1 : 0
        if source.frames.count > 1 {
            basic.have_animation = 1
            basic.animation.tps_numerator = 1_000
            basic.animation.tps_denominator = 1
            basic.animation.num_loops = UInt32(clamping: source.loopCount)
        }
        // The light of the highest number.
        if samples.kind == .pq { basic.intensity_target = 10_000 }
        try check(JxlEncoderSetBasicInfo(encoder, &basic))
        // The higher of two levels of decoders, which more than 8 bits without loss may need.
        if JxlEncoderGetRequiredCodestreamLevel(encoder) == 10 { try check(JxlEncoderSetCodestreamLevel(encoder, 10)) }
        if samples.kind == .pq {
            var color = JxlColorEncoding()
            color.color_space = JXL_COLOR_SPACE_RGB
            color.white_point = JXL_WHITE_POINT_D65
            color.primaries = JXL_PRIMARIES_2100
            color.transfer_function = JXL_TRANSFER_FUNCTION_PQ
            color.rendering_intent = JXL_RENDERING_INTENT_PERCEPTUAL
            try check(JxlEncoderSetColorEncoding(encoder, &color))
        } else if let profile {
            try check(JxlEncoderSetICCProfile(encoder, [UInt8](profile), profile.count))
        } else {
            var color = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&color, 0)
            try check(JxlEncoderSetColorEncoding(encoder, &color))
        }
    }

    private func output(_ encoder: OpaquePointer) throws(ImageError) -> Data {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        var written = 0
        while true {
            let status = bytes.withUnsafeMutableBufferPointer { buffer in
                var next = buffer.baseAddress.map { $0 + written }
                var room = buffer.count - written
                let status = JxlEncoderProcessOutput(encoder, &next, &room)
                written = buffer.count - room
                return status
            }
            if status == JXL_ENC_SUCCESS { return Data(bytes[..<written]) }
            guard status == JXL_ENC_NEED_MORE_OUTPUT else { throw failure("libjxl could not write the image") }
            bytes += [UInt8](repeating: 0, count: bytes.count)
        }
    }

    private func check(_ status: JxlEncoderStatus) throws(ImageError) {
        guard status == JXL_ENC_SUCCESS else { throw failure("libjxl refused the image or its options") }
    }

    private func failure(_ reason: String) -> ImageError { ImageError(.encodeFailed, stage: .encode, reason: reason) }
}
#endif
