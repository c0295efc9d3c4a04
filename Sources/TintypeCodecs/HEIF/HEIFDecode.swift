#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import TintypeCore

/// One decode of one HEIF file.
struct HEIFDecode {
    let file: HEIFFile
    let options: DecodeOptions
    let context: DecodeContext

    func run() throws(ImageError) -> Image {
        let info = file.info
        let format = info.pixelFormat(options)
        let output = info.outputSize(options, format: format)
        try info.check(context.limits, output: output, keptFrames: 1, format: format)
        // Where only the coded image may say that it is of high dynamic range, the most is reserved.
        let isUndecided = options.decodeToHDR && file.profile == nil && !file.hasCodePoints
        // The planes, and the bitmap that libheif makes of them.
        let reservation = try context.reserve(
            output: output, format: isUndecided ? .rgbaFloat16 : format, isCopied: false, source: info.size,
            bitmaps: info.bitsPerComponent > 8 ? 4 : 2)
        defer { reservation.release() }
        try context.checkCancellation()
        let thumbnail = thumbnail(atLeast: output)
        defer { if let thumbnail { heif_image_handle_release(thumbnail) } }
        let picture =
            if let small = try decode(thumbnail, to: output) { small } else { try decode(file.handle, to: output) }
        var properties = info.properties(options)
        properties.colorSpace = picture.colorSpace
        properties.isHighDynamicRange = options.decodeToHDR && picture.isHighDynamicRange
        properties.metadata = file.metadata
        return Image(pixels: picture.pixels, properties: properties)
    }

    private struct Picture {
        var pixels: PixelBuffer
        var colorSpace: ColorSpace
        var isHighDynamicRange: Bool
    }

    // MARK: Thumbnail

    /// The embedded thumbnail, to be released, if it shows the whole image at no less than the size that is wanted.
    private func thumbnail(atLeast output: PixelSize) -> OpaquePointer? {
        let size = file.info.size
        guard output != size else { return nil }
        var ids = [heif_item_id](repeating: 0, count: 8)
        let count = heif_image_handle_get_list_of_thumbnail_IDs(file.handle, &ids, Int32(ids.count))
        for id in ids.prefix(Int(count)) {
            var handle: OpaquePointer?
            let error = heif_image_handle_get_thumbnail(file.handle, id, &handle)
            guard error.code == heif_error_Ok, let handle else { continue }
            let small = PixelSize(
                width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle)))
            let isLargeEnough = small.width >= output.width && small.height >= output.height
            // The shape is the same if the short side is off by less than a pixel.
            let skew = abs(small.width * size.height - small.height * size.width)
            let isSameShape = skew < max(size.width, size.height)
            let hasAlpha = heif_image_handle_has_alpha_channel(handle) != 0
            if isLargeEnough, isSameShape, small.pixelCount < size.pixelCount, hasAlpha == file.info.hasAlpha {
                return handle
            }
            heif_image_handle_release(handle)
        }
        return nil
    }

    /// The thumbnail's pixels; `nil` if there is none or it is damaged.
    private func decode(_ thumbnail: OpaquePointer?, to output: PixelSize) throws(ImageError) -> Picture? {
        guard let thumbnail else { return nil }
        do throws(ImageError) {
            let decoded: Picture = try decode(thumbnail, to: output)
            return decoded
        } catch {
            if error.isCancellation { throw error }
            return nil
        }
    }

    // MARK: Pixels

    private func decode(_ handle: OpaquePointer, to output: PixelSize) throws(ImageError) -> Picture {
        let isDeep = heif_image_handle_get_luma_bits_per_pixel(handle) > 8
        let chroma = isDeep ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA
        let settings = heif_decoding_options_alloc()
        defer { heif_decoding_options_free(settings) }
        var decoded: OpaquePointer?
        let error = heif_decode_image(handle, &decoded, heif_colorspace_RGB, chroma, settings)
        guard error.code == heif_error_Ok, let image = decoded else {
            throw HEIFFile.error(error, isTruncated: file.isTruncated)
        }
        defer { heif_image_release(image) }
        try context.checkCancellation()
        let size = PixelSize(
            width: Int(heif_image_get_width(image, heif_channel_interleaved)),
            height: Int(heif_image_get_height(image, heif_channel_interleaved)))
        var stride: Int32 = 0
        guard let plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride),
            Int(stride) >= size.width * (isDeep ? 8 : 4), handle != file.handle || size == file.info.size
        else { throw .corrupt("the HEIF file says \(file.info.size), but its image is \(size)") }
        var codePoints = file.codePoints
        if !file.hasCodePoints {
            codePoints =
                HEIFFile.codePoints { heif_image_get_nclx_color_profile(image, $0) } ?? codePoints
        }
        // Some files say it nowhere but in the coded image.
        let isHighDynamicRange = file.profile == nil && codePoints.isHighDynamicRange
        let format = options.pixelFormat(
            bitsPerComponent: file.info.bitsPerComponent, isHighDynamicRange: isHighDynamicRange)
        try context.limits.check(size: size, output: output, bytesPerPixel: format.bytesPerPixel)
        let color = CodedColor(
            profile: file.profile, codePoints: codePoints, isGray: false, keepsColorSpace: options.keepsColorSpace,
            format: format)
        let bits = isDeep ? Int(heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved)) : 8
        let rows = DeepRows(bits: min(16, max(8, bits)), color: color)
        var sink = try RowSink(stored: size, output: output, format: format, context: context)
        for y in 0..<size.height {
            let row = sink.rowToFill()
            let source = UnsafeRawPointer(plane) + y * Int(stride)
            if isDeep {
                rows.convert(
                    source.assumingMemoryBound(to: UInt16.self), to: row, count: size.width,
                    premultiplies: file.info.hasAlpha)
            } else {
                rows.convert(bytes: source, to: row, count: size.width, premultiplies: file.info.hasAlpha)
            }
            try sink.commitRow()
        }
        return Picture(
            pixels: try sink.finish(), colorSpace: color.colorSpace, isHighDynamicRange: isHighDynamicRange)
    }
}
#endif
