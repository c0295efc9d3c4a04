#if AVIF
internal import CAVIF
internal import FoundationEssentials
internal import TintypeImages

/// Writes an AVIF file with libavif and libaom.
struct AVIFEncoder {
    static let maximumSide = 32_768

    private let job: EncodeJob
    private let source: Image
    private var options: EncodeOptions { job.options }

    init(job: EncodeJob) {
        self.job = job
        source = job.image
    }

    /// The file; of the highest quality, up to the requested quality, that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        try job.check(options.avif.speed, in: 0...10, "avif.speed")
        try job.check(options.avif.alphaQuality, in: 0...1, "avif.alphaQuality")
        try checkCodec()
        if options.lossless { return try job.fitWithoutLoss { () throws(ImageError) in try file(quality: 100) } }
        return try job.fit { quality throws(ImageError) in try file(quality: quality) }
    }

    private func checkCodec() throws(ImageError) {
        let codec = options.avif.codec
        guard avifCodecName(codec.choice, AVIF_CODEC_FLAG_CAN_ENCODE.rawValue) != nil else {
            throw job.failure("the installed libavif has no encoder “\(codec.rawValue)”")
        }
        if options.lossless, codec == .rav1e { throw job.failure("rav1e doesn't support lossless encoding; use aom") }
    }

    /// Quantizers run the other way: 0 is best.
    private static func quantizer(_ quality: Int) -> Int32 { Int32(((100 - quality) * 63 + 50) / 100) }

    private func file(quality: Int) throws(ImageError) -> Data {
        guard let encoder = avifEncoderCreate() else {
            throw job.failure("libavif couldn't allocate memory for an encoder")
        }
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.codecChoice = options.avif.codec.choice
        encoder.pointee.maxThreads = 1
        encoder.pointee.speed = Int32(options.avif.speed)
        encoder.pointee.timescale = 1_000
        let quantizer = Self.quantizer(quality)
        encoder.pointee.minQuantizer = options.lossless ? 0 : max(0, quantizer - 4)
        encoder.pointee.maxQuantizer = options.lossless ? 0 : min(63, quantizer + 4)
        let alpha = options.avif.alphaQuality.map { Self.quantizer(Int(($0 * 100).rounded())) }
        encoder.pointee.minQuantizerAlpha = options.lossless ? 0 : alpha.map { max(0, $0 - 4) } ?? 0
        encoder.pointee.maxQuantizerAlpha = options.lossless ? 0 : alpha ?? quantizer / 2
        let durations = job.milliseconds(atLeast: 1)
        var index = 0
        try job.forEachFrame { frame throws(ImageError) in
            defer { index += 1 }
            let image = try picture(frame.pixels)
            defer { avifImageDestroy(image) }
            let flags = job.isAnimated ? AVIF_ADD_IMAGE_FLAG_NONE.rawValue : AVIF_ADD_IMAGE_FLAG_SINGLE.rawValue
            try check(avifEncoderAddImage(encoder, image, UInt64(durations[index]), flags), encoder)
        }
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try check(avifEncoderFinish(encoder, &output), encoder)
        guard let bytes = output.data else { throw job.failure("libavif returned no data") }
        let file = Data(bytes: bytes, count: output.size)
        guard job.isAnimated, source.loopCount > 0 else { return file }
        // Without a list, the sequence is repeated forever.
        return AVIFEditList.adding(loopCount: source.loopCount, to: file) ?? file
    }

    /// The planes of a frame, to be destroyed by the caller.
    private func picture(_ pixels: PixelBuffer) throws(ImageError) -> UnsafeMutablePointer<avifImage> {
        let format = options.lossless ? AVIF_PIXEL_FORMAT_YUV444 : options.avif.subsampling.format
        // High dynamic range needs 10 bits; 12, which fewer decoders read, are for sources with more.
        let bits: UInt32 = pixels.format == .rgba8 ? 8 : source.properties.bitsPerComponent <= 10 ? 10 : 12
        guard let image = avifImageCreate(UInt32(pixels.width), UInt32(pixels.height), bits, format) else {
            throw job.failure("libavif couldn't allocate memory for \(pixels.size) pixels")
        }
        image.pointee.yuvRange = AVIF_RANGE_FULL
        let isPQ = pixels.format == .rgbaFloat16
        image.pointee.colorPrimaries = avifColorPrimaries(
            isPQ ? AVIF_COLOR_PRIMARIES_BT2020 : AVIF_COLOR_PRIMARIES_BT709)
        image.pointee.transferCharacteristics = avifTransferCharacteristics(
            isPQ ? AVIF_TRANSFER_CHARACTERISTICS_SMPTE2084 : AVIF_TRANSFER_CHARACTERISTICS_SRGB)
        // Without a matrix, red, green and blue are stored as they are.
        let luma = isPQ ? AVIF_MATRIX_COEFFICIENTS_BT2020_NCL : AVIF_MATRIX_COEFFICIENTS_BT601
        let matrix = options.lossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : luma
        image.pointee.matrixCoefficients = avifMatrixCoefficients(matrix)
        if !isPQ { job.profile?.withUnsafeBytes { avifImageSetProfileICC(image, $0.first8, $0.count) } }
        job.exif?.withUnsafeBytes { avifImageSetMetadataExif(image, $0.first8, $0.count) }
        job.xmp?.withUnsafeBytes { avifImageSetMetadataXMP(image, $0.first8, $0.count) }
        let result =
            pixels.format == .rgba8
            ? convert(pixels.straightPixels, bits: 8, to: image)
            : convert(pixels.straightDeepPixels, bits: 16, to: image)
        guard result == AVIF_RESULT_OK else {
            avifImageDestroy(image)
            throw job.failure("libavif refused the pixels: \(String(cString: avifResultToString(result)))")
        }
        return image
    }

    /// Fills the planes with straight RGBA.
    private func convert<Component>(
        _ straight: [Component], bits: UInt32, to image: UnsafeMutablePointer<avifImage>
    ) -> avifResult {
        var straight = straight
        var rgb = avifRGBImage()
        avifRGBImageSetDefaults(&rgb, image)
        rgb.format = AVIF_RGB_FORMAT_RGBA
        rgb.depth = bits
        rgb.ignoreAlpha = source.hasAlpha ? AVIF_FALSE : AVIF_TRUE
        rgb.rowBytes = rgb.width * UInt32(4 * MemoryLayout<Component>.size)
        return straight.withUnsafeMutableBytes { buffer in
            rgb.pixels = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return avifImageRGBToYUV(image, &rgb)
        }
    }

    private func check(_ result: avifResult, _ encoder: UnsafeMutablePointer<avifEncoder>) throws(ImageError) {
        guard result != AVIF_RESULT_OK else { return }
        throw job.failure("libavif couldn't write the image: \(String(cString: avifResultToString(result)))")
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var first8: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension AVIFEncodeOptions.Codec {
    fileprivate var choice: avifCodecChoice {
        switch self {
        case .automatic: AVIF_CODEC_CHOICE_AUTO
        case .aom: AVIF_CODEC_CHOICE_AOM
        case .rav1e: AVIF_CODEC_CHOICE_RAV1E
        }
    }
}

extension ChromaSubsampling {
    fileprivate var format: avifPixelFormat {
        switch self {
        case .full: AVIF_PIXEL_FORMAT_YUV444
        case .halfAcross: AVIF_PIXEL_FORMAT_YUV422
        case .half: AVIF_PIXEL_FORMAT_YUV420
        }
    }
}
#endif
