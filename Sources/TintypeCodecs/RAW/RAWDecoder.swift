#if RAW
internal import CLibRaw
internal import FoundationEssentials
internal import TintypeImages

/// Develops a camera file.
struct RAWDecoder {
    let file: RAWFile
    let info: ImageInfo
    /// The requested size, upright.
    let output: PixelSize
    let options: DecodeOptions
    let context: ProcessingContext

    func run() throws(ImageError) -> Image {
        // The numbers of the sensor, four colors of two bytes for each pixel, and the picture that libraw makes of them.
        let reservation = try context.reserve(output: output, isCopied: true, source: info.size, bitmaps: 4)
        defer { reservation.release() }
        try develop()
        var result: Int32 = 0
        guard let picture = libraw_dcraw_make_mem_image(file.handle, &result) else {
            try file.check(result)
            throw .corrupt("the camera file has no image")
        }
        defer { libraw_dcraw_clear_mem(picture) }
        let pixels = try pixels(of: picture)
        var properties = info.properties(options)
        properties.isPartial = file.callbacks.missesBytes || file.callbacks.sawDamage
        return Image(pixels: pixels, properties: properties)
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
        if file.missesPicture { throw .truncated("the camera file ends before the data of the sensor") }
        try file.check(libraw_unpack(file.handle))
        if !options.allowsPartialImage {
            if file.callbacks.missesBytes { throw .truncated("the camera file ends too early") }
            if file.callbacks.sawDamage { throw .corrupt("the camera file is damaged") }
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
        else { throw .corrupt("libraw couldn't develop the camera file") }
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
