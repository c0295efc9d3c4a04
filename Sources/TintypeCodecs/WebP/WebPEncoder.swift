internal import CWebP
internal import FoundationEssentials
internal import TintypeImages

/// Writes a WebP file with libwebp.
struct WebPEncoder {
    /// WebP stores a side in 14 bits.
    static let maximumSide = 16_383

    private let job: EncodeJob
    private let settings: WebPSettings

    init(job: EncodeJob) {
        self.job = job
        settings = WebPSettings(job: job)
    }

    /// The file; of the highest quality, up to the requested quality, that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        if job.options.lossless {
            return try job.fitWithoutLoss { () throws(ImageError) in try file(settings.config(quality: 100)) }
        }
        if job.options.webp.targetPSNR > 0 {
            let data = try file(settings.config(quality: job.options.percent))
            if job.fits(data.count) { return data }
        }
        return try job.fit { quality throws(ImageError) in
            try file(settings.config(quality: quality, ignoresTarget: true))
        }
    }

    private func file(_ config: WebPConfig) throws(ImageError) -> Data {
        var config = config
        var hasTransparency = false
        var file = try job.isAnimated ? animation(&config, &hasTransparency) : still(&config)
        let chunks = [("ICCP", job.profile), ("EXIF", job.exif), ("XMP ", job.xmp)].compactMap { name, data in
            data.map { (name, $0) }
        }
        if !chunks.isEmpty { file = try adding(chunks, to: file) }
        if hasTransparency { Self.stateAlpha(of: &file) }
        return file
    }

    /// Sets the flag for alpha in the header of an animation ("WebP Container Specification", extended file format). libwebp
    /// leaves it out where no frame has alpha of its own, and the canvas shows between the frames.
    private static func stateAlpha(of file: inout Data) {
        let flags = file.startIndex + 20
        guard file.count > 20, file.dropFirst(12).prefix(4).elementsEqual("VP8X".utf8) else { return }
        file[flags] |= 0x10
    }

    private static func isOpaque(_ pixels: PixelBuffer) -> Bool {
        (0..<pixels.height).allSatisfy { y in
            pixels.withRow(y) { row in stride(from: 3, to: pixels.width * 4, by: 4).allSatisfy { row[$0] == 255 } }
        }
    }

    private func still(_ config: inout WebPConfig) throws(ImageError) -> Data {
        var picture = try picture(job.image.pixels, asARGB: Self.convertsWithCare(config))
        defer { WebPPictureFree(&picture) }
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        var context = job.context
        let succeeded = withUnsafeMutablePointer(to: &writer) { writer in
            withUnsafeMutablePointer(to: &context) { context in
                picture.writer = WebPMemoryWrite
                picture.custom_ptr = UnsafeMutableRawPointer(writer)
                // libwebp stops where its progress is answered with 0.
                picture.user_data = UnsafeMutableRawPointer(context)
                picture.progress_hook = { _, picture in
                    let context = picture?.pointee.user_data?.assumingMemoryBound(to: ProcessingContext.self)
                    return context?.pointee.isCancelled() == true ? 0 : 1
                }
                return WebPEncode(&config, &picture) != 0
            }
        }
        guard succeeded, let bytes = writer.mem else {
            try job.context.checkCancellation()
            throw job.failure("libwebp couldn't write the image (error \(picture.error_code.rawValue))")
        }
        return Data(bytes: bytes, count: writer.size)
    }

    /// - Parameter hasTransparency: becomes true if a frame isn't opaque.
    private func animation(_ config: inout WebPConfig, _ hasTransparency: inout Bool) throws(ImageError) -> Data {
        let image = job.image
        var animationSettings = try settings.animation()
        guard let encoder = WebPAnimEncoderNew(Int32(image.size.width), Int32(image.size.height), &animationSettings)
        else { throw job.failure("libwebp couldn't allocate memory for an encoder") }
        defer { WebPAnimEncoderDelete(encoder) }
        var time = Duration.zero
        try job.forEachFrame { frame throws(ImageError) in
            if image.hasAlpha, !hasTransparency { hasTransparency = !Self.isOpaque(frame.pixels) }
            var picture = try picture(frame.pixels, asARGB: true)
            defer { WebPPictureFree(&picture) }
            guard WebPAnimEncoderAdd(encoder, &picture, Self.timestamp(time), &config) != 0 else {
                throw job.failure("libwebp refused a frame: " + String(cString: WebPAnimEncoderGetError(encoder)))
            }
            time += min(frame.duration, Self.longestDuration)
        }
        var output = WebPData()
        WebPDataInit(&output)
        defer { WebPDataClear(&output) }
        guard WebPAnimEncoderAdd(encoder, nil, Self.timestamp(time), nil) != 0,
            WebPAnimEncoderAssemble(encoder, &output) != 0, let bytes = output.bytes
        else {
            throw job.failure("libwebp couldn't write the file: " + String(cString: WebPAnimEncoderGetError(encoder)))
        }
        return Data(bytes: bytes, count: output.size)
    }

    /// A picture with a copy of the pixels, to be freed by the caller.
    private func picture(_ pixels: PixelBuffer, asARGB: Bool) throws(ImageError) -> WebPPicture {
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else {
            throw job.failure("the installed libwebp has a different version than this build expects")
        }
        picture.use_argb = asARGB ? 1 : 0
        picture.width = Int32(pixels.width)
        picture.height = Int32(pixels.height)
        let imported: Bool
        if job.image.hasAlpha {
            imported = pixels.straightPixels.withUnsafeBufferPointer {
                WebPPictureImportRGBA(&picture, $0.baseAddress, Int32(pixels.width * 4)) != 0
            }
        } else {
            imported = pixels.withUnsafeBytes {
                let base = $0.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return WebPPictureImportRGBX(&picture, base, Int32(pixels.bytesPerRow)) != 0
            }
        }
        guard imported else { throw job.failure("libwebp couldn't allocate memory for \(pixels.size) pixels") }
        return picture
    }

    /// Returns true if the encoder is given RGB: without loss, and where it is to dither or to look sharply on the way to YUV.
    private static func convertsWithCare(_ config: WebPConfig) -> Bool {
        config.lossless != 0 || config.use_sharp_yuv != 0 || config.preprocessing & 2 != 0
    }

    /// The duration of a frame has 24 bits.
    private static let longestDuration = Duration.milliseconds(0xFF_FFFF)

    private static func timestamp(_ time: Duration) -> Int32 { Int32(clamping: Int(time.inMilliseconds.rounded())) }

    private func adding(_ chunks: [(name: String, contents: Data)], to file: Data) throws(ImageError) -> Data {
        try file.withBytes { bytes throws(ImageError) in
            var input = WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
            guard let mux = WebPMuxCreate(&input, 0) else { throw job.failure("libwebp couldn't add metadata") }
            defer { WebPMuxDelete(mux) }
            for chunk in chunks {
                let status = chunk.contents.withUnsafeBytes { bytes in
                    var contents = WebPData(
                        bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
                    return WebPMuxSetChunk(mux, chunk.name, &contents, 1)
                }
                guard status == WEBP_MUX_OK else { throw job.failure("libwebp couldn't add the chunk \(chunk.name)") }
            }
            var output = WebPData()
            WebPDataInit(&output)
            defer { WebPDataClear(&output) }
            guard WebPMuxAssemble(mux, &output) == WEBP_MUX_OK, let bytes = output.bytes else {
                throw job.failure("libwebp couldn't add metadata")
            }
            return Data(bytes: bytes, count: output.size)
        }
    }
}
