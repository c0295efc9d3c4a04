#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

/// The primary image of a HEIF file, as far as its header describes it.
///
/// Valid as long as the bytes, which libheif refers to.
final class HEIFFile {
    let info: ImageInfo
    let profile: Data?
    /// The meaning of the numbers, if a box states it; else only the coded image does.
    let coding: ColorCoding?
    let isTruncated: Bool
    let handle: OpaquePointer
    private let context: OpaquePointer

    init(
        _ bytes: UnsafeRawBufferPointer, boxes: TopLevelBoxes, format: ImageFormat, limits: DecodeLimits
    ) throws(ImageError) {
        guard let context = heif_context_alloc() else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "libheif has no memory for a file")
        }
        // Tiles are decoded on this thread; parallel work comes from the pool that decodes several images at once.
        heif_context_set_max_decoding_threads(context, 0)
        heif_context_set_maximum_image_size_limit(context, Int32(clamping: limits.maximumPixels))
        var handle: OpaquePointer?
        var error = heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil)
        if error.code == heif_error_Ok { error = heif_context_get_primary_image_handle(context, &handle) }
        guard error.code == heif_error_Ok, let handle else {
            let reason = Self.error(error, isTruncated: boxes.isTruncated)
            heif_context_free(context)
            throw reason
        }
        let size = PixelSize(
            width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle)))
        guard !size.isEmpty else {
            heif_image_handle_release(handle)
            heif_context_free(context)
            throw .corrupt("the HEIF image has a size of \(size)")
        }
        // No tile or layer of an honest file is much larger than the image itself.
        heif_context_set_maximum_image_size_limit(context, Int32(clamping: max(size.width, size.height) * 2 + 4_096))
        profile = Self.profile(handle)
        let coding = Self.coding { heif_image_handle_get_nclx_color_profile(handle, $0) }
        self.coding = coding
        let codePoints = coding?.codePoints
        info = ImageInfo(
            format: format, size: size, hasAlpha: heif_image_handle_has_alpha_channel(handle) != 0,
            bitsPerComponent: max(8, Int(heif_image_handle_get_luma_bits_per_pixel(handle))),
            colorProfile: CodedColor.name(profile: profile, codePoints: codePoints ?? .sRGB),
            isComplete: !boxes.isTruncated,
            isHighDynamicRange: profile == nil && codePoints?.isHighDynamicRange == true)
        self.context = context
        self.handle = handle
        isTruncated = boxes.isTruncated
    }

    deinit {
        heif_image_handle_release(handle)
        heif_context_free(context)
    }

    /// Lets the header of a file be read whose end is missing, with zeros in its place: they cost no memory, because nothing
    /// reads or writes their pages.
    static func withMissingBytes<Value>(
        _ bytes: UnsafeRawBufferPointer, length: Int,
        _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let most = 1 << 30
        guard length <= most, let base = bytes.baseAddress, let padded = calloc(1, length) else {
            throw .truncated("the HEIF file is not complete")
        }
        defer { free(padded) }
        padded.copyMemory(from: base, byteCount: bytes.count)
        return try body(UnsafeRawBufferPointer(start: padded, count: length))
    }

    private static func profile(_ handle: OpaquePointer) -> Data? {
        let count = heif_image_handle_get_raw_color_profile_size(handle)
        guard count > 0 else { return nil }
        var profile = Data(count: count)
        let error = profile.withUnsafeMutableBytes { heif_image_handle_get_raw_color_profile(handle, $0.baseAddress) }
        return error.code == heif_error_Ok ? profile : nil
    }

    /// - Parameter get: A function of libheif's that makes a description of an image's colors.
    static func coding(
        _ get: (UnsafeMutablePointer<UnsafeMutablePointer<heif_color_profile_nclx>?>) -> heif_error
    ) -> ColorCoding? {
        var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
        guard get(&profile).code == heif_error_Ok, let profile else { return nil }
        defer { heif_nclx_color_profile_free(profile) }
        return ColorCoding(
            codePoints: CodePoints(
                primaries: Int(profile.pointee.color_primaries.rawValue),
                transfer: Int(profile.pointee.transfer_characteristics.rawValue)),
            matrix: Int(profile.pointee.matrix_coefficients.rawValue),
            isFullRange: profile.pointee.full_range_flag != 0)
    }

    /// Exif, from its TIFF header on, and XMP.
    var metadata: ImageMetadata {
        var ids = [heif_item_id](repeating: 0, count: 32)
        let count = heif_image_handle_get_list_of_metadata_block_IDs(handle, nil, &ids, Int32(ids.count))
        var metadata = ImageMetadata()
        for id in ids.prefix(Int(count)) {
            let size = heif_image_handle_get_metadata_size(handle, id)
            guard size > 0, let type = heif_image_handle_get_metadata_type(handle, id) else { continue }
            var block = Data(count: size)
            let error = block.withUnsafeMutableBytes { heif_image_handle_get_metadata(handle, id, $0.baseAddress) }
            guard error.code == heif_error_Ok else { continue }
            let content = heif_image_handle_get_metadata_content_type(handle, id).map { String(cString: $0) }
            switch (String(cString: type), content) {
            case ("Exif", _): metadata.exif = metadata.exif ?? ExifItem.block(block)
            case ("mime", "application/rdf+xml"): metadata.xmp = metadata.xmp ?? block
            default: break
            }
        }
        return metadata
    }

    /// The metadata of the still image in a file, which is that of its sequence too; none where there is no such image.
    static func metadata(of data: Data) -> ImageMetadata {
        let metadata = try? data.withBytes { bytes throws(ImageError) in
            let boxes = TopLevelBoxes(bytes)
            guard boxes.first("meta") != nil else { return ImageMetadata() }
            return try HEIFFile(bytes, boxes: boxes, format: .heif, limits: DecodeLimits()).metadata
        }
        return metadata ?? ImageMetadata()
    }

    // MARK: Errors

    static func error(_ error: heif_error, isTruncated: Bool) -> ImageError {
        let message = error.message.map { String(cString: $0) } ?? "unknown error"
        if error.subcode == heif_suberror_Security_limit_exceeded {
            return ImageError(
                .limitExceeded, stage: .decode, reason: "the HEIF file is over a limit (libheif: \(message))")
        }
        if isTruncated || error.subcode == heif_suberror_End_of_data {
            return .truncated("the HEIF file ends too early (libheif: \(message))")
        }
        switch error.code {
        case heif_error_Memory_allocation_error:
            return ImageError(.outOfMemory, stage: .decode, reason: "libheif has no memory for the image")
        case heif_error_Unsupported_feature, heif_error_Unsupported_filetype:
            return ImageError(
                .formatNotEnabled, stage: .decode, reason: "libheif cannot read this HEIF file: \(message)")
        default: return .corrupt("the HEIF file is damaged (libheif: \(message))")
        }
    }
}
#endif
