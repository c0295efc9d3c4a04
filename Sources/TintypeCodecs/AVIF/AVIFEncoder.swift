#if AVIF
internal import CAVIF
internal import FoundationEssentials
internal import TintypeCore

/// Writes an AVIF file with libavif and libaom.
struct AVIFEncoder {
    static let maximumSide = 32_768

    let source: Image
    let options: EncodeOptions
    /// An ICC profile to put into the file.
    let profile: Data?

    /// From 0, best and slowest, to 10. At 6 a megapixel takes about a second of one core.
    private static let speed: Int32 = 6

    /// The file; of the highest quality up to the one that is asked for that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        guard options.lossless else {
            return try EncodePreparation.fit(
                quality: options.percent, maximumBytes: options.maximumBytes, as: .avif
            ) { quality throws(ImageError) in try file(quality: quality) }
        }
        let data = try file(quality: 100)
        guard data.count <= options.maximumBytes ?? .max else {
            throw EncodePreparation.tooLarge(options.maximumBytes, .avif)
        }
        return data
    }

    private func file(quality: Int) throws(ImageError) -> Data {
        guard let encoder = avifEncoderCreate() else { throw failure("libavif has no memory for an encoder") }
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.maxThreads = 1
        encoder.pointee.speed = Self.speed
        encoder.pointee.timescale = 1_000
        // Quantizers run the other way: 0 is best.
        let quantizer = Int32(options.lossless ? 0 : ((100 - quality) * 63 + 50) / 100)
        encoder.pointee.minQuantizer = options.lossless ? 0 : max(0, quantizer - 4)
        encoder.pointee.maxQuantizer = options.lossless ? 0 : min(63, quantizer + 4)
        // Transparency shows every error at an edge, and costs little.
        encoder.pointee.minQuantizerAlpha = 0
        encoder.pointee.maxQuantizerAlpha = options.lossless ? 0 : quantizer / 2
        let isAnimated = source.frames.count > 1
        for frame in source.frames {
            let image = try picture(frame.pixels)
            defer { avifImageDestroy(image) }
            let flags = isAnimated ? AVIF_ADD_IMAGE_FLAG_NONE.rawValue : AVIF_ADD_IMAGE_FLAG_SINGLE.rawValue
            try check(avifEncoderAddImage(encoder, image, duration(frame), flags), encoder)
        }
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try check(avifEncoderFinish(encoder, &output), encoder)
        guard let bytes = output.data else { throw failure("libavif wrote nothing") }
        return Data(bytes: bytes, count: output.size)
    }

    private func duration(_ frame: ImageFrame) -> UInt64 {
        UInt64(max(1, min(frame.duration.inMilliseconds, 3_600_000).rounded()))
    }

    /// The planes of a frame, to be destroyed by the caller.
    private func picture(_ pixels: PixelBuffer) throws(ImageError) -> UnsafeMutablePointer<avifImage> {
        let format = options.lossless ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420
        // High dynamic range needs 10 bits; 12, which fewer decoders read, are for what has more.
        let bits: UInt32 = pixels.format == .rgba8 ? 8 : source.properties.bitsPerComponent <= 10 ? 10 : 12
        guard let image = avifImageCreate(UInt32(pixels.width), UInt32(pixels.height), bits, format) else {
            throw failure("libavif has no memory for \(pixels.size) pixels")
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
        profile?.withUnsafeBytes { bytes in
            avifImageSetProfileICC(image, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        let result =
            pixels.format == .rgba8
            ? convert(pixels.straightPixels, bits: 8, to: image)
            : convert(pixels.straightDeepPixels, bits: 16, to: image)
        guard result == AVIF_RESULT_OK else {
            avifImageDestroy(image)
            throw failure("libavif refused the pixels: \(String(cString: avifResultToString(result)))")
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
        throw failure("libavif could not write the image: \(String(cString: avifResultToString(result)))")
    }

    private func failure(_ reason: String) -> ImageError { ImageError(.encodeFailed, stage: .encode, reason: reason) }
}
#endif
