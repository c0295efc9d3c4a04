#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import TintypeImages

/// Writes a HEIC file with libheif and its HEVC encoder.
struct HEIFEncoder {
    static let maximumSide = 16_384

    /// The long side of the thumbnail.
    private static let thumbnailSide = 320

    /// libheif refuses to make a thumbnail of an image that is no larger, and crashes where its short side would have less than 2 pixels.
    private var hasThumbnail: Bool {
        let (width, height) = (source.pixels.width, source.pixels.height)
        let (long, short) = (max(width, height), min(width, height))
        return options.embedsThumbnail && long > Self.thumbnailSide && short * Self.thumbnailSide / long >= 2
    }

    /// The preset of x265 that takes a third of the time of its default, for slightly larger files.
    private static let preset = "veryfast"

    private let job: EncodeJob
    private let source: Image
    private var options: EncodeOptions { job.options }

    init(job: EncodeJob) {
        self.job = job
        source = job.image
    }

    /// The file; of the highest quality, up to the requested quality, that keeps to the limit of bytes.
    func encode() throws(ImageError) -> Data {
        guard source.pixels.format != .rgba8 else { return try encode(source) }
        do throws(ImageError) { return try encode(source) } catch {
            // Builds of HEVC encoders differ in the bits that they have.
            guard error.code == .encodeFailed, options.maximumBytes == nil else { throw error }
            return try encode(try DepthReduction.reduce(source, to: [], options, job.context))
        }
    }

    private func encode(_ source: Image) throws(ImageError) -> Data {
        let isPQ = source.pixels.format == .rgbaFloat16
        let image = try HEIFPicture(pixels: source.pixels, hasAlpha: source.hasAlpha).make(
            bits: source.pixels.format == .rgba8 ? 8 : source.properties.bitsPerComponent <= 10 ? 10 : 12,
            profile: isPQ ? nil : source.colorSpace.profile)
        defer { heif_image_release(image) }
        if options.lossless {
            return try job.fitWithoutLoss { () throws(ImageError) in try file(image, quality: 100, isPQ: isPQ) }
        }
        return try job.fit { quality throws(ImageError) in try file(image, quality: quality, isPQ: isPQ) }
    }

    private func file(_ image: OpaquePointer, quality: Int, isPQ: Bool) throws(ImageError) -> Data {
        guard let context = heif_context_alloc() else {
            throw job.failure("libheif couldn't allocate memory for a file")
        }
        defer { heif_context_free(context) }
        var encoder: OpaquePointer?
        let found = heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder)
        guard found.code == heif_error_Ok, let encoder else {
            throw ImageError(
                .formatNotEncodable, stage: .encode, reason: "the installed libheif has no encoder for HEVC")
        }
        defer { heif_encoder_release(encoder) }
        try check(heif_encoder_set_lossy_quality(encoder, Int32(Self.coderQuality(quality))))
        if options.lossless {
            try check(heif_encoder_set_lossless(encoder, 1))
            // The default is half the resolution.
            try check(heif_encoder_set_parameter_string(encoder, "chroma", ChromaSubsampling.full.name))
        }
        // Other encoders than x265 do not know the word.
        _ = heif_encoder_set_parameter_string(encoder, "preset", Self.preset)
        let settings = isPQ ? heif_encoding_options_alloc() : nil
        defer { if let settings { heif_encoding_options_free(settings) } }
        let profile = isPQ ? try HEIFPicture.makePQProfile() : nil
        defer { heif_nclx_color_profile_free(profile) }
        // Without, libheif states nothing, and computes with sRGB's matrix, regardless of the image's own description.
        settings?.pointee.output_nclx_profile = profile
        settings?.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
        var created: OpaquePointer?
        let encoded = heif_context_encode_image(context, image, encoder, settings, &created)
        let size = source.size
        if encoded.code != heif_error_Ok, min(size.width, size.height) < 64, max(size.width, size.height) > 4_096 {
            throw job.failure("the HEVC encoder can't write an image as thin as \(size) pixels; use another format")
        }
        try check(encoded)
        guard let handle = created else { throw job.failure("libheif wrote no image") }
        defer { heif_image_handle_release(handle) }
        try addMetadata(context, handle)
        if hasThumbnail {
            var thumbnail: OpaquePointer?
            try check(
                heif_context_encode_thumbnail(
                    context, image, handle, encoder, settings, Int32(Self.thumbnailSide), &thumbnail))
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

    /// The quality of libheif that makes x265 give about as much as JPEG and AVIF do at a quality: libheif's 85 is a rate factor of 7.5,
    /// with files five times as large as JPEG's.
    static func coderQuality(_ quality: Int) -> Int {
        let points = [(0, 0), (50, 32), (85, 54), (95, 72), (100, 100)]
        let end = points.firstIndex { quality <= $0.0 } ?? points.count - 1
        guard end > 0 else { return 0 }
        let ((x0, y0), (x1, y1)) = (points[end - 1], points[end])
        return y0 + (min(quality, x1) - x0) * (y1 - y0) / (x1 - x0)
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

    private func check(_ error: heif_error) throws(ImageError) { try HEIFPicture.check(error) }
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
