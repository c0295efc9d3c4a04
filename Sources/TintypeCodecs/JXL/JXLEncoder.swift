#if JXL
internal import CJXL
internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

/// Writes a JPEG XL file with libjxl.
struct JXLEncoder {
    /// The format has no such limit; no decoder takes more.
    static let maximumSide = 1 << 18

    private let job: EncodeJob
    private let source: Image
    private var options: EncodeOptions { job.options }

    init(job: EncodeJob) {
        self.job = job
        source = job.image
    }

    /// The file; of the highest quality, up to the requested quality, that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        try job.check(options.jxl.effort, in: 1...9, "jxl.effort")
        try job.check(options.jxl.distance, in: 0...15, "jxl.distance")
        if options.lossless { return try job.fitWithoutLoss { () throws(ImageError) in try file(distance: 0) } }
        if let distance = options.jxl.distance {
            let data = try file(distance: Float(distance))
            if job.fits(data.count) { return data }
        }
        return try job.fit { quality throws(ImageError) in
            try file(distance: min(15, Self.distance(quality: quality)))
        }
    }

    /// The distance, in just noticeable differences, that libjxl's own tools take for a quality of JPEG.
    static func distance(quality: Int) -> Float {
        quality >= 30 ? 0.1 + Float(100 - quality) * 0.09 : 6.4 + powf(2.5, Float(30 - quality) / 5) / 6.25
    }

    /// Returns true if libjxl can write an ICC profile.
    static func accepts(_ profile: Data) -> Bool {
        guard let encoder = JxlEncoderCreate(nil) else { return false }
        defer { JxlEncoderDestroy(encoder) }
        var basic = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&basic)
        (basic.xsize, basic.ysize) = (1, 1)
        (basic.bits_per_sample, basic.num_color_channels) = (8, 3)
        basic.uses_original_profile = 1
        return JxlEncoderSetBasicInfo(encoder, &basic) == JXL_ENC_SUCCESS
            && JxlEncoderSetICCProfile(encoder, [UInt8](profile), profile.count) == JXL_ENC_SUCCESS
    }

    private var samples: JXLSamples { JXLSamples(source) }

    private func file(distance: Float) throws(ImageError) -> Data {
        guard let encoder = JxlEncoderCreate(nil) else {
            throw job.failure("libjxl couldn't allocate memory for an encoder")
        }
        defer { JxlEncoderDestroy(encoder) }
        try setImage(encoder)
        try addMetadata(encoder)
        guard let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else {
            throw job.failure("libjxl couldn't allocate memory for an encoder")
        }
        try set(settings, JXL_ENC_FRAME_SETTING_EFFORT, options.jxl.effort)
        if options.progressive {
            try set(settings, JXL_ENC_FRAME_SETTING_PROGRESSIVE_DC, 1)
            try set(settings, JXL_ENC_FRAME_SETTING_QPROGRESSIVE_AC, 1)
        }
        if options.lossless {
            try check(JxlEncoderSetFrameLossless(settings, 1))
        } else {
            try check(JxlEncoderSetFrameDistance(settings, distance))
        }
        var format = JxlPixelFormat(
            num_channels: source.hasAlpha ? 4 : 3, data_type: samples.type, endianness: JXL_NATIVE_ENDIAN, align: 0)
        // A frame without a duration is a part of the next one.
        let durations = job.milliseconds(atLeast: 1)
        var index = 0
        try job.forEachFrame { frame throws(ImageError) in
            defer { index += 1 }
            try job.context.checkCancellation()
            if job.isAnimated {
                var header = JxlFrameHeader()
                JxlEncoderInitFrameHeader(&header)
                header.duration = UInt32(durations[index])
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
        // Without loss, pixels stay in the colors that they are in.
        basic.uses_original_profile = options.lossless ? 1 : 0
        if job.isAnimated {
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
        } else if let profile = job.profile {
            try check(JxlEncoderSetICCProfile(encoder, [UInt8](profile), profile.count))
        } else {
            var color = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&color, 0)
            try check(JxlEncoderSetColorEncoding(encoder, &color))
        }
    }

    /// Puts Exif and XMP into boxes (ISO/IEC 18181-2, section 9); a file without them has none.
    private func addMetadata(_ encoder: OpaquePointer) throws(ImageError) {
        guard job.exif != nil || job.xmp != nil else { return }
        try check(JxlEncoderUseBoxes(encoder))
        // The offset of the TIFF header comes first.
        if let exif = job.exif { try add("Exif", Data(count: 4) + exif, to: encoder) }
        if let xmp = job.xmp { try add("xml ", xmp, to: encoder) }
        JxlEncoderCloseBoxes(encoder)
    }

    private func add(_ type: StaticString, _ contents: Data, to encoder: OpaquePointer) throws(ImageError) {
        let status = type.withUTF8Buffer { type in
            type.withMemoryRebound(to: CChar.self) { type in
                JxlEncoderAddBox(encoder, type.baseAddress, [UInt8](contents), contents.count, 0)
            }
        }
        try check(status)
    }

    private func set(
        _ settings: OpaquePointer, _ option: JxlEncoderFrameSettingId, _ value: Int
    ) throws(ImageError) {
        try check(JxlEncoderFrameSettingsSetOption(settings, option, Int64(value)))
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
            guard status == JXL_ENC_NEED_MORE_OUTPUT else { throw job.failure("libjxl couldn't write the image") }
            bytes += [UInt8](repeating: 0, count: bytes.count)
        }
    }

    private func check(_ status: JxlEncoderStatus) throws(ImageError) {
        guard status == JXL_ENC_SUCCESS else { throw job.failure("libjxl refused the image or its options") }
    }
}
#endif
