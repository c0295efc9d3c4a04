#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import TintypeCore

/// Decodes the primary image of a HEIF file.
struct HEIFStillDecoder {
    let file: HEIFFile
    let options: DecodeOptions
    let context: DecodeContext

    func run() throws(ImageError) -> Image {
        let info = file.info
        let format = info.pixelFormat(options)
        let output = info.outputSize(options, format: format)
        try info.check(context.limits, output: output, keptFrames: 1, format: format)
        // Where only the coded image may say that it is of high dynamic range, the most is reserved.
        let isUndecided = options.decodeToHDR && file.profile == nil && file.coding == nil
        // The planes of the decoder, and those that libheif copies from them.
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

    /// Returns the embedded thumbnail, which the caller releases, if it shows the whole image at the requested size or larger.
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
        // Gray comes as one plane, so that its profile applies. libheif 1.15 gives colors as planes of red, green and blue.
        let image = try planes(of: handle, heif_colorspace_undefined, heif_chroma_undefined)
        defer { heif_image_release(image) }
        if let planes = PlanarPicture(heif: image) { return try convert(planes, of: image, handle, to: output) }
        // Planes that do not fit together are left to libheif.
        let colors = try self.planes(of: handle, heif_colorspace_RGB, heif_chroma_444)
        defer { heif_image_release(colors) }
        guard let planes = PlanarPicture(heif: colors) else {
            throw .corrupt("the planes of the HEIF image do not fit together")
        }
        return try convert(planes, of: colors, handle, to: output)
    }

    /// The decoded image, to be released by the caller.
    private func planes(
        of handle: OpaquePointer, _ space: heif_colorspace, _ chroma: heif_chroma
    ) throws(ImageError) -> OpaquePointer {
        let settings = heif_decoding_options_alloc()
        defer { heif_decoding_options_free(settings) }
        var decoded: OpaquePointer?
        let error = heif_decode_image(handle, &decoded, space, chroma, settings)
        guard error.code == heif_error_Ok, let image = decoded else {
            throw HEIFFile.error(error, isTruncated: file.isTruncated)
        }
        do throws(ImageError) { try context.checkCancellation() } catch {
            heif_image_release(image)
            throw error
        }
        return image
    }

    private func convert(
        _ planes: PlanarPicture, of image: OpaquePointer, _ handle: OpaquePointer, to output: PixelSize
    ) throws(ImageError) -> Picture {
        let size = planes.size
        let alpha = PlanarRows.Alpha(heif: image, size: size)
        guard handle != file.handle || size == file.info.size else {
            throw .corrupt("the HEIF file says \(file.info.size), but its image is \(size)")
        }
        // Some files say it nowhere but in the coded image.
        var coding =
            file.coding ?? HEIFFile.coding { heif_image_get_nclx_color_profile(image, $0) }
            ?? ColorCoding(codePoints: .sRGB, matrix: 2, isFullRange: true)
        if heif_image_get_colorspace(image) == heif_colorspace_RGB { (coding.matrix, coding.isFullRange) = (0, true) }
        let isHighDynamicRange = file.profile == nil && coding.codePoints.isHighDynamicRange
        let format = options.pixelFormat(
            bitsPerComponent: file.info.bitsPerComponent, isHighDynamicRange: isHighDynamicRange)
        try context.limits.check(size: size, output: output, bytesPerPixel: format.bytesPerPixel)
        let color = CodedColor(
            profile: file.profile, codePoints: coding.codePoints, isGray: planes.chroma == nil,
            keepsColorSpace: options.keepsColorSpace, format: format, bitsPerComponent: planes.bits)
        let rows = PlanarRows(
            image: planes, aperture: PixelRect(size: size), alpha: alpha,
            isPremultiplied: heif_image_handle_is_premultiplied_alpha(handle) != 0, coding: coding, color: color)
        var sink = try RowSink(stored: size, output: output, format: format, context: context)
        for y in 0..<size.height {
            rows.convert(y, to: sink.rowToFill())
            try sink.commitRow()
        }
        return Picture(
            pixels: try sink.finish(), colorSpace: color.colorSpace, isHighDynamicRange: isHighDynamicRange)
    }
}
#endif
