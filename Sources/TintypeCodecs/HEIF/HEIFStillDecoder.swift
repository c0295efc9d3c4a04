#if HEIF
internal import CHEIF
internal import FoundationEssentials
internal import TintypeImages

/// Decodes the primary image of a HEIF file.
struct HEIFStillDecoder {
    let file: HEIFFile
    /// The items of the file; `nil` if their description is damaged, which libheif may overlook.
    let items: ItemTable?
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
        defer { if let thumbnail { heif_image_handle_release(thumbnail.handle) } }
        let picture =
            if let small = try decode(thumbnail, to: output) { small } else {
                try decode(Item(handle: file.handle, id: items?.primary), to: output)
            }
        var properties = info.properties(options)
        properties.colorSpace = picture.colorSpace
        properties.isHighDynamicRange = options.decodeToHDR && picture.isHighDynamicRange
        properties.metadata = file.metadata
        return Image(pixels: picture.pixels, properties: properties)
    }

    /// An image of the file.
    private struct Item {
        var handle: OpaquePointer
        /// Its number in the table of items.
        var id: Int?

        var size: PixelSize {
            PixelSize(
                width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle)))
        }

        var hasAlpha: Bool { heif_image_handle_has_alpha_channel(handle) != 0 }
    }

    private struct Picture {
        var pixels: PixelBuffer
        var colorSpace: ColorSpace
        var isHighDynamicRange: Bool
    }

    // MARK: Thumbnail

    /// Returns the embedded thumbnail, which is released with the item, if it shows the whole image at the requested size or larger.
    private func thumbnail(atLeast output: PixelSize) -> Item? {
        let size = file.info.size
        guard output != size else { return nil }
        var ids = [heif_item_id](repeating: 0, count: 8)
        let count = heif_image_handle_get_list_of_thumbnail_IDs(file.handle, &ids, Int32(ids.count))
        for id in ids.prefix(Int(count)) {
            var handle: OpaquePointer?
            let error = heif_image_handle_get_thumbnail(file.handle, id, &handle)
            guard error.code == heif_error_Ok, let handle else { continue }
            let item = Item(handle: handle, id: Int(id))
            let small = item.size
            let isLargeEnough = small.width >= output.width && small.height >= output.height
            // The shape is the same if the short side is off by less than a pixel.
            let skew = abs(small.width * size.height - small.height * size.width)
            let isSameShape = skew < max(size.width, size.height)
            let isSmaller = small.pixelCount < size.pixelCount
            if isLargeEnough, isSameShape, isSmaller, item.hasAlpha == file.info.hasAlpha { return item }
            heif_image_handle_release(handle)
        }
        return nil
    }

    /// The thumbnail's pixels; `nil` if there is none or it is damaged.
    private func decode(_ thumbnail: Item?, to output: PixelSize) throws(ImageError) -> Picture? {
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

    private func decode(_ item: Item, to output: PixelSize) throws(ImageError) -> Picture {
        if let picture = try decodePlanes(of: item, to: output) { return picture }
        // Gray comes as one plane, so that its profile applies. libheif 1.15 gives colors as planes of red, green and blue.
        let image = try planes(of: item.handle, heif_colorspace_undefined, heif_chroma_undefined)
        defer { heif_image_release(image) }
        if let planes = PlanarPicture(heif: image) { return try convert(planes, of: image, item, to: output) }
        // Planes that do not fit together are left to libheif.
        let colors = try self.planes(of: item.handle, heif_colorspace_RGB, heif_chroma_444)
        defer { heif_image_release(colors) }
        guard let planes = PlanarPicture(heif: colors) else {
            throw .corrupt("the planes of the HEIF image do not fit together")
        }
        return try convert(planes, of: colors, item, to: output)
    }

    /// Decodes an image of HEVC pictures without libheif, so that its chroma is interpolated.
    /// - Returns: `nil` if the image is coded or derived in another way.
    private func decodePlanes(of item: Item, to output: PixelSize) throws(ImageError) -> Picture? {
        guard let (still, alphaStill) = try stills(of: item) else { return nil }
        let image = try still.decode(context)
        let alpha = try alphaStill?.decode(context)
        defer { withExtendedLifetime((image, alpha)) {} }
        var transparency: PlanarRows.Alpha?
        if let alpha = alpha?.planes, let aperture = alphaStill?.aperture {
            transparency = PlanarRows.Alpha(plane: alpha.luma, bits: alpha.bits, aperture: aperture)
        }
        return try convert(
            image.planes, aperture: still.aperture, orientation: still.orientation, alpha: transparency,
            coding: file.coding ?? image.coding, of: item, to: output)
    }

    /// The pictures of an image and of its transparency; `nil` if libheif is to decode them.
    private func stills(of item: Item) throws(ImageError) -> (image: HEVCStill, alpha: HEVCStill?)? {
        guard let items, let id = item.id else { return nil }
        do throws(ImageError) {
            guard let image = try HEVCStill(id, in: items, limits: context.limits), image.displaySize == item.size
            else { return nil }
            guard item.hasAlpha else { return (image, nil) }
            guard let alpha = try HEVCStill.alpha(of: id, in: items, limits: context.limits),
                alpha.aperture.size == image.aperture.size, alpha.orientation == image.orientation
            else { return nil }
            return (image, alpha)
        } catch {
            switch error.code {
            case .corruptImage, .truncatedImage, .formatNotEnabled: return nil
            default: throw error
            }
        }
    }

    /// The image as libheif decodes it, to be released by the caller.
    private func planes(
        of handle: OpaquePointer, _ space: heif_colorspace, _ chroma: heif_chroma
    ) throws(ImageError) -> OpaquePointer {
        let settings = heif_decoding_options_alloc()
        defer { heif_decoding_options_free(settings) }
        // Of an image that is damaged, libde265 leaves pixels as the memory was.
        settings?.pointee.strict_decoding = 1
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
        _ planes: PlanarPicture, of image: OpaquePointer, _ item: Item, to output: PixelSize
    ) throws(ImageError) -> Picture {
        let size = planes.size
        guard item.handle != file.handle || size == file.info.size else {
            throw .corrupt("the HEIF file says \(file.info.size), but its image is \(size)")
        }
        // Some files say it nowhere but in the coded image.
        var coding =
            file.coding ?? HEIFFile.coding { heif_image_get_nclx_color_profile(image, $0) }
            ?? ColorCoding(codePoints: .sRGB, matrix: 2, isFullRange: true)
        if heif_image_get_colorspace(image) == heif_colorspace_RGB { (coding.matrix, coding.isFullRange) = (0, true) }
        return try convert(
            planes, aperture: PixelRect(size: size), orientation: .up, alpha: PlanarRows.Alpha(heif: image, size: size),
            coding: coding, of: item, to: output)
    }

    private func convert(
        _ planes: PlanarPicture, aperture: PixelRect, orientation: Orientation, alpha: PlanarRows.Alpha?,
        coding: ColorCoding, of item: Item, to output: PixelSize
    ) throws(ImageError) -> Picture {
        let size = aperture.size
        let isHighDynamicRange = file.profile == nil && coding.codePoints.isHighDynamicRange
        let format = options.pixelFormat(
            bitsPerComponent: file.info.bitsPerComponent, isHighDynamicRange: isHighDynamicRange)
        try context.limits.check(size: size, output: output, bytesPerPixel: format.bytesPerPixel)
        let color = CodedColor(
            profile: file.profile, codePoints: coding.codePoints, isGray: planes.chroma == nil,
            keepsColorSpace: options.keepsColorSpace, format: format, bitsPerComponent: planes.bits)
        let rows = PlanarRows(
            image: planes, aperture: aperture, alpha: alpha,
            isPremultiplied: heif_image_handle_is_premultiplied_alpha(item.handle) != 0, coding: coding, color: color)
        var sink = try RowSink(
            stored: size, output: output, orientation: orientation, format: format, context: context)
        for y in 0..<size.height {
            rows.convert(y, to: sink.rowToFill())
            try sink.commitRow()
        }
        return Picture(
            pixels: try sink.finish(), colorSpace: color.colorSpace, isHighDynamicRange: isHighDynamicRange)
    }
}
#endif
