#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import TintypeCore

/// Writes a HEIC file with libheif and its HEVC encoder.
struct HEIFEncoder {
    static let maximumSide = 16_384

    let source: Image
    let options: EncodeOptions
    /// An ICC profile to put into the file.
    let profile: Data?

    /// The file; of the highest quality up to the one that is asked for that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        guard source.pixels.format != .rgba8 else { return try encode(source) }
        do throws(ImageError) { return try encode(source) } catch {
            // Builds of HEVC encoders differ in the bits that they have.
            guard error.code == .encodeFailed, options.maximumBytes == nil else { throw error }
            return try encode(try DepthReduction.reduce(source, to: [], options))
        }
    }

    private func encode(_ source: Image) throws(ImageError) -> Data {
        let image = try HEIFPicture(pixels: source.pixels, hasAlpha: source.hasAlpha).make(
            bits: source.pixels.format == .rgba8 ? 8 : source.properties.bitsPerComponent <= 10 ? 10 : 12,
            profile: source.pixels.format == .rgbaFloat16 ? nil : profile)
        defer { heif_image_release(image) }
        return try EncodePreparation.fit(
            quality: options.lossless ? 100 : options.percent, maximumBytes: options.maximumBytes, as: .heic
        ) { quality throws(ImageError) in
            // Without loss there is no lower quality to try.
            guard !options.lossless || quality == 100 else { return nil }
            return try file(image, quality: quality, isPQ: source.pixels.format == .rgbaFloat16)
        }
    }

    private func file(_ image: OpaquePointer, quality: Int, isPQ: Bool) throws(ImageError) -> Data {
        guard let context = heif_context_alloc() else { throw HEIFPicture.failure("libheif has no memory for a file") }
        defer { heif_context_free(context) }
        var encoder: OpaquePointer?
        let found = heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder)
        guard found.code == heif_error_Ok, let encoder else {
            throw ImageError(
                .formatNotEncodable, stage: .encode, reason: "the installed libheif has no encoder for HEVC")
        }
        defer { heif_encoder_release(encoder) }
        try check(heif_encoder_set_lossy_quality(encoder, Int32(quality)))
        if options.lossless {
            try check(heif_encoder_set_lossless(encoder, 1))
            try check(heif_encoder_set_parameter_string(encoder, "chroma", "444"))
        }
        // The encoder's own default takes three times as long for some percent of the size. Other encoders than x265 do not
        // know the word.
        _ = heif_encoder_set_parameter_string(encoder, "preset", "veryfast")
        let settings = heif_encoding_options_alloc()
        defer { heif_encoding_options_free(settings) }
        let profile = isPQ ? try HEIFPicture.makePQProfile() : nil
        defer { heif_nclx_color_profile_free(profile) }
        // Without, libheif states nothing, and computes with sRGB's matrix, whatever the image says of itself.
        settings?.pointee.output_nclx_profile = profile
        settings?.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
        try check(heif_context_encode_image(context, image, encoder, isPQ ? settings : nil, nil))
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
        try withUnsafeMutablePointer(to: &data) { data throws(ImageError) in
            try check(heif_context_write(context, &writer, data))
        }
        return data
    }

    private func check(_ error: heif_error) throws(ImageError) { try HEIFPicture.check(error) }
}
#endif
