#if RAW
internal import CLibRaw
internal import FoundationEssentials
internal import TintypeCore

/// One decode of one camera file.
struct RAWDecode {
    let file: RAWFile
    let info: ImageInfo
    /// The size that is wanted, upright.
    let output: PixelSize
    let options: DecodeOptions
    let context: DecodeContext

    func run() throws(ImageError) -> Image {
        if let pixels = try pixelsOfPreview() { return Image(pixels: pixels, properties: info.properties(options)) }
        // The numbers of the sensor, four colours of two bytes for each pixel, and the picture that libraw makes of them.
        let reservation = try context.reserve(output: output, isCopied: true, source: info.size, bitmaps: 4)
        defer { reservation.release() }
        try develop()
        var result: Int32 = 0
        guard let picture = libraw_dcraw_make_mem_image(file.handle, &result) else {
            try file.check(result)
            throw .corrupt("the camera file has no picture")
        }
        defer { libraw_dcraw_clear_mem(picture) }
        let pixels = try pixels(of: picture)
        var properties = info.properties(options)
        properties.isPartial = file.watch.missesBytes || file.watch.sawDamage
        return Image(pixels: pixels, properties: properties)
    }

    // MARK: The camera's preview

    /// The thumbnail made of the preview in the file; `nil` if there is none that will do.
    private func pixelsOfPreview() throws(ImageError) -> PixelBuffer? {
        guard output != info.displaySize, libraw_unpack_thumb(file.handle) == LIBRAW_SUCCESS.rawValue else {
            return nil
        }
        let preview = file.handle.pointee.thumbnail
        guard preview.tformat == LIBRAW_THUMBNAIL_JPEG, let start = preview.thumb, preview.tlength > 0 else {
            return nil
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(preview.tlength))
        var segments = JPEGSegments(bytes)
        guard let size = segments.size, isEnough(size) else { return nil }
        // Previews lie as the sensor does; what they say of themselves is not to be relied on.
        segments.orientation = info.orientation
        var fitted = options
        fitted.thumbnailSize = output
        fitted.preservesAspectRatio = false
        fitted.maximumBytes = nil
        fitted.keepsColorSpace = false
        do throws(ImageError) {
            return try JPEGDecoder(segments: segments, options: fitted, context: context).run(bytes).pixels
        } catch {
            if error.isCancellation { throw error }
            return nil
        }
    }

    /// Whether a preview of a size has the shape of the image, give or take a margin, and all that the thumbnail shows.
    private func isEnough(_ size: PixelSize) -> Bool {
        let target = info.orientation.stored(output)
        guard size.width >= target.width, size.height >= target.height else { return false }
        let shape = Double(size.width) * Double(info.size.height) / (Double(size.height) * Double(info.size.width))
        return abs(shape - 1) < 0.02
    }

    // MARK: Developing

    private func develop() throws(ImageError) {
        let target = info.orientation.stored(output)
        file.handle.pointee.params.user_flip = 0
        file.handle.pointee.params.half_size =
            target.width * 2 <= info.size.width && target.height * 2 <= info.size.height ? 1 : 0
        file.handle.pointee.params.use_camera_wb = 1
        file.handle.pointee.params.output_color = 1  // sRGB
        file.handle.pointee.params.output_bps = 8
        // The curve of sRGB (IEC 61966-2-1) as dcraw describes curves: an exponent, and a slope at black.
        file.handle.pointee.params.gamm.0 = 1 / 2.4
        file.handle.pointee.params.gamm.1 = 12.92
        try file.check(libraw_unpack(file.handle))
        if !options.allowsPartialImage {
            if file.watch.missesBytes { throw .truncated("the camera file ends too early") }
            if file.watch.sawDamage { throw .corrupt("the camera file is damaged") }
        }
        try context.checkCancellation()
        try file.check(libraw_dcraw_process(file.handle))
        try context.checkCancellation()
    }

    private func pixels(
        of picture: UnsafeMutablePointer<libraw_processed_image_t>
    ) throws(ImageError) -> PixelBuffer {
        let size = PixelSize(width: Int(picture.pointee.width), height: Int(picture.pointee.height))
        let components = Int(picture.pointee.colors)
        guard picture.pointee.type == LIBRAW_IMAGE_BITMAP, picture.pointee.bits == 8, [1, 3].contains(components),
            !size.isEmpty, Int(picture.pointee.data_size) >= size.pixelCount * components,
            let offset = MemoryLayout<libraw_processed_image_t>.offset(of: \.data)
        else { throw .corrupt("libraw made no picture that can be shown of the camera file") }
        let bytes = (UnsafeRawPointer(picture) + offset).assumingMemoryBound(to: UInt8.self)
        var sink = try RowSink(stored: size, output: output, orientation: info.orientation, context: context)
        for y in 0..<size.height {
            let source = bytes + y * size.width * components
            let row = sink.rowToFill().assumingMemoryBound(to: UInt32.self)
            if components == 3 {
                for x in 0..<size.width {
                    row[x] = pixel(source[3 * x], source[3 * x + 1], source[3 * x + 2])
                }
            } else {
                for x in 0..<size.width { row[x] = pixel(source[x], source[x], source[x]) }
            }
            try sink.commitRow()
        }
        return try sink.finish()
    }

    @inline(__always)
    private func pixel(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt32 {
        (UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000).littleEndian
    }
}
#endif
