#if SVG || PDF
internal import CCairo
internal import TintypeImages

/// Pixels that a library draws on with cairo.
enum CairoCanvas {
    /// cairo counts pixels in 16 bits.
    static let maximumSide = 32_767

    /// Draws a picture, and gives its pixels in the order that images have.
    /// - Parameters:
    ///   - name: the name of the drawing, for messages.
    ///   - paper: true if the pixels are initially white instead of clear.
    ///   - allowsPartial: true to return what was drawn before cairo failed.
    ///   - draw: draws in the units of the picture, which are scaled to the pixels; an error of its own goes first.
    /// - Throws: ``ImageError/Code/limitExceeded`` for a size that cairo cannot draw.
    static func draw(
        _ name: String, _ picture: (width: Double, height: Double), at size: PixelSize, paper: Bool = false,
        allowsPartial: Bool = false, pool: PixelBufferPool, _ draw: (OpaquePointer) -> ImageError?
    ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        guard max(size.width, size.height) <= maximumSide else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "cairo can't draw \(size) pixels; its limit is \(maximumSide) per side")
        }
        let buffer = try MutablePixelBuffer(size: size, cleared: true, pool: pool)
        guard
            let surface = cairo_image_surface_create_for_data(
                buffer.row(0).assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(size.width),
                Int32(size.height), Int32(buffer.bytesPerRow)), let cairo = cairo_create(surface)
        else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory to draw \(size) pixels")
        }
        if paper {
            cairo_set_source_rgb(cairo, 1, 1, 1)
            cairo_paint(cairo)
        }
        // The same factor in both directions, unless the options stretch the picture.
        cairo_scale(cairo, Double(size.width) / picture.width, Double(size.height) / picture.height)
        let failure = draw(cairo)
        let status = cairo_status(cairo)
        cairo_destroy(cairo)
        // After this nothing writes the pixels any more, even if the library kept a reference to the surface.
        cairo_surface_finish(surface)
        cairo_surface_destroy(surface)
        if let failure { throw failure }
        guard status == CAIRO_STATUS_SUCCESS || allowsPartial else {
            let message = "(cairo: \(String(cString: cairo_status_to_string(status))))"
            // Glyphs that draw each other ask for sizes that no memory has, and cairo doesn't tell the two apart.
            throw status == CAIRO_STATUS_NO_MEMORY
                ? ImageError(
                    .outOfMemory, stage: .decode,
                    reason: "the \(name) takes too much memory, or has parts that draw each other \(message)")
                : .corrupt("the \(name) is damaged, and can't be drawn to its end \(message)")
        }
        for y in 0..<size.height {
            // From cairo's order of bytes, which is blue, green, red, alpha on little-endian machines.
            RowKernels.swapRedAndBlue(buffer.row(y), count: size.width)
            // Rounding in cairo lets colors of turned patterns exceed alpha by 1.
            Premultiplication.clamp(buffer.row(y), count: size.width, format: .rgba8)
        }
        return (buffer.freeze(), status != CAIRO_STATUS_SUCCESS)
    }

    /// A size in pixels that holds a picture, rounded up; empty for a picture without a sensible size.
    static func pixels(_ width: Double, _ height: Double) -> PixelSize {
        guard width > 0, height > 0, width < 1e9, height < 1e9 else { return .zero }
        return PixelSize(width: Int(width.rounded(.up)), height: Int(height.rounded(.up)))
    }
}
#endif
