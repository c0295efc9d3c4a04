#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import TintypeCore

/// Writes a HEIC file with libheif and its HEVC encoder.
struct HEIFEncoder {
    static let maximumSide = 16_384

    /// The long side of the thumbnail.
    private static let thumbnailSide: Int32 = 320

    private let job: EncodeJob
    private let source: Image
    private var options: EncodeOptions { job.options }

    init(job: EncodeJob) {
        self.job = job
        source = job.image
    }

    /// The file; of the highest quality up to the one that is asked for that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        let image = try picture(source.pixels)
        defer { heif_image_release(image) }
        if options.lossless { return try job.fitWithoutLoss { () throws(ImageError) in try file(image, quality: 100) } }
        return try job.fit { quality throws(ImageError) in try file(image, quality: quality) }
    }

    private func file(_ image: OpaquePointer, quality: Int) throws(ImageError) -> Data {
        guard let context = heif_context_alloc() else { throw job.failure("libheif has no memory for a file") }
        defer { heif_context_free(context) }
        var encoder: OpaquePointer?
        let found = heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder)
        guard found.code == heif_error_Ok, let encoder else {
            throw ImageError(
                .formatNotEncodable, stage: .encode, reason: "the installed libheif has no encoder for HEVC")
        }
        defer { heif_encoder_release(encoder) }
        try check(heif_encoder_set_lossy_quality(encoder, Int32(quality)))
        if options.lossless { try check(heif_encoder_set_lossless(encoder, 1)) }
        let chroma = options.lossless ? ChromaSubsampling.full : options.heic.subsampling
        if chroma != .half { try check(heif_encoder_set_parameter_string(encoder, "chroma", chroma.name)) }
        // Other encoders than x265 do not know the word.
        _ = heif_encoder_set_parameter_string(encoder, "preset", options.heic.preset.rawValue)
        var created: OpaquePointer?
        try check(heif_context_encode_image(context, image, encoder, nil, &created))
        guard let handle = created else { throw job.failure("libheif wrote no image") }
        defer { heif_image_handle_release(handle) }
        try addMetadata(context, handle)
        if options.embedsThumbnail {
            var thumbnail: OpaquePointer?
            try check(
                heif_context_encode_thumbnail(
                    context, image, handle, encoder, nil, Self.thumbnailSide, &thumbnail))
            if let thumbnail { heif_image_handle_release(thumbnail) }
        }
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

    private func addMetadata(_ context: OpaquePointer, _ handle: OpaquePointer) throws(ImageError) {
        if let exif = job.exif {
            try check(
                exif.withUnsafeBytes {
                    heif_context_add_exif_metadata(context, handle, $0.baseAddress, Int32($0.count))
                })
        }
        if let xmp = job.xmp {
            try check(
                xmp.withUnsafeBytes { heif_context_add_XMP_metadata(context, handle, $0.baseAddress, Int32($0.count)) })
        }
    }

    /// The pixels as libheif takes them, to be released by the caller.
    private func picture(_ pixels: PixelBuffer) throws(ImageError) -> OpaquePointer {
        let chroma = source.hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB
        let (width, height) = (Int32(pixels.width), Int32(pixels.height))
        var created: OpaquePointer?
        try check(heif_image_create(width, height, heif_colorspace_RGB, chroma, &created))
        guard let image = created else { throw job.failure("libheif has no memory for \(pixels.size) pixels") }
        do throws(ImageError) {
            try check(heif_image_add_plane(image, heif_channel_interleaved, width, height, 8))
            var stride: Int32 = 0
            guard let plane = heif_image_get_plane(image, heif_channel_interleaved, &stride) else {
                throw job.failure("libheif has no memory for \(pixels.size) pixels")
            }
            for y in 0..<pixels.height { copy(pixels, y, to: plane + y * Int(stride)) }
            if let profile = job.profile {
                let error = profile.withUnsafeBytes {
                    heif_image_set_raw_color_profile(image, "prof", $0.baseAddress, $0.count)
                }
                try check(error)
            }
        } catch {
            heif_image_release(image)
            throw error
        }
        return image
    }

    private func copy(_ pixels: PixelBuffer, _ y: Int, to row: UnsafeMutablePointer<UInt8>) {
        pixels.withRow(y) { bytes in
            guard let base = bytes.baseAddress else { return }
            guard !source.hasAlpha else {
                Premultiplication.unpremultiply(base, into: UnsafeMutableRawPointer(row), count: pixels.width)
                return
            }
            for x in 0..<pixels.width {
                for component in 0..<3 { row[x * 3 + component] = bytes[x * 4 + component] }
            }
        }
    }

    private func check(_ error: heif_error) throws(ImageError) {
        guard error.code != heif_error_Ok else { return }
        throw job.failure(
            "libheif could not write the image: \(error.message.map { String(cString: $0) } ?? "unknown error")")
    }
}

extension ChromaSubsampling {
    /// The name that libheif's encoders take.
    fileprivate var name: String {
        switch self {
        case .full: "444"
        case .halfAcross: "422"
        case .half: "420"
        }
    }
}
#endif
