internal import CWebP
internal import FoundationEssentials
internal import TintypeCore

/// Writes a WebP file with libwebp.
struct WebPEncoder {
    /// WebP stores a side in 14 bits.
    static let maximumSide = 16_383

    let image: Image
    let options: EncodeOptions

    /// The file; of the highest quality up to the one that is asked for that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        guard options.lossless else {
            return try EncodePreparation.fit(
                quality: options.percent, maximumBytes: options.maximumBytes, as: .webp
            ) { quality throws(ImageError) in try file(quality: quality) }
        }
        let data = try file(quality: 100)
        guard data.count <= options.maximumBytes ?? .max else {
            throw EncodePreparation.tooLarge(options.maximumBytes, .webp)
        }
        return data
    }

    private func file(quality: Int) throws(ImageError) -> Data {
        var config = WebPConfig()
        guard WebPConfigInit(&config) != 0 else { throw Self.failure("the installed libwebp is of another version") }
        if options.lossless {
            guard WebPConfigLosslessPreset(&config, 6) != 0 else { throw Self.failure("libwebp refused the options") }
        } else {
            config.quality = Float(quality)
        }
        let file = image.frames.count > 1 ? try animation(&config) : try still(&config)
        return try image.colorSpace.profile.map { profile throws(ImageError) in try Self.adding(profile, to: file) }
            ?? file
    }

    private func still(_ config: inout WebPConfig) throws(ImageError) -> Data {
        var picture = try picture(image.pixels, asARGB: options.lossless)
        defer { WebPPictureFree(&picture) }
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        let succeeded = withUnsafeMutablePointer(to: &writer) { writer in
            picture.writer = WebPMemoryWrite
            picture.custom_ptr = UnsafeMutableRawPointer(writer)
            return WebPEncode(&config, &picture) != 0
        }
        guard succeeded, let bytes = writer.mem else {
            throw Self.failure("libwebp could not write the image (error \(picture.error_code.rawValue))")
        }
        return Data(bytes: bytes, count: writer.size)
    }

    private func animation(_ config: inout WebPConfig) throws(ImageError) -> Data {
        var settings = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&settings) != 0 else {
            throw Self.failure("the installed libwebp is of another version")
        }
        settings.anim_params.loop_count = Int32(clamping: min(max(image.loopCount, 0), 65_535))
        settings.anim_params.bgcolor = 0
        guard let encoder = WebPAnimEncoderNew(Int32(image.size.width), Int32(image.size.height), &settings) else {
            throw Self.failure("libwebp has no memory for an encoder")
        }
        defer { WebPAnimEncoderDelete(encoder) }
        var time = Duration.zero
        for frame in image.frames {
            var picture = try picture(frame.pixels, asARGB: true)
            defer { WebPPictureFree(&picture) }
            guard WebPAnimEncoderAdd(encoder, &picture, Self.timestamp(time), &config) != 0 else {
                throw Self.failure("libwebp refused a frame: " + String(cString: WebPAnimEncoderGetError(encoder)))
            }
            time += frame.duration
        }
        var output = WebPData()
        WebPDataInit(&output)
        defer { WebPDataClear(&output) }
        guard WebPAnimEncoderAdd(encoder, nil, Self.timestamp(time), nil) != 0,
            WebPAnimEncoderAssemble(encoder, &output) != 0, let bytes = output.bytes
        else {
            throw Self.failure("libwebp could not write the file: " + String(cString: WebPAnimEncoderGetError(encoder)))
        }
        return Data(bytes: bytes, count: output.size)
    }

    /// A picture with a copy of the pixels, to be freed by the caller.
    private func picture(_ pixels: PixelBuffer, asARGB: Bool) throws(ImageError) -> WebPPicture {
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw Self.failure("the installed libwebp is of another version") }
        picture.use_argb = asARGB ? 1 : 0
        picture.width = Int32(pixels.width)
        picture.height = Int32(pixels.height)
        let imported: Bool
        if image.hasAlpha {
            imported = pixels.straightPixels.withUnsafeBufferPointer {
                WebPPictureImportRGBA(&picture, $0.baseAddress, Int32(pixels.width * 4)) != 0
            }
        } else {
            imported = pixels.withUnsafeBytes {
                let base = $0.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return WebPPictureImportRGBX(&picture, base, Int32(pixels.bytesPerRow)) != 0
            }
        }
        guard imported else { throw Self.failure("libwebp has no memory for \(pixels.size) pixels") }
        return picture
    }

    private static func timestamp(_ time: Duration) -> Int32 { Int32(clamping: Int(time.inMilliseconds.rounded())) }

    private static func adding(_ profile: Data, to file: Data) throws(ImageError) -> Data {
        try file.withBytes { file throws(ImageError) in
            try profile.withBytes { profile throws(ImageError) in
                var input = WebPData(bytes: file.baseAddress?.assumingMemoryBound(to: UInt8.self), size: file.count)
                var chunk = WebPData(
                    bytes: profile.baseAddress?.assumingMemoryBound(to: UInt8.self), size: profile.count)
                guard let mux = WebPMuxCreate(&input, 0) else { throw failure("libwebp could not add the profile") }
                defer { WebPMuxDelete(mux) }
                var output = WebPData()
                WebPDataInit(&output)
                defer { WebPDataClear(&output) }
                guard WebPMuxSetChunk(mux, "ICCP", &chunk, 0) == WEBP_MUX_OK,
                    WebPMuxAssemble(mux, &output) == WEBP_MUX_OK, let bytes = output.bytes
                else { throw failure("libwebp could not add the profile") }
                return Data(bytes: bytes, count: output.size)
            }
        }
    }

    private static func failure(_ reason: String) -> ImageError {
        ImageError(.encodeFailed, stage: .encode, reason: reason)
    }
}
