#if SVG
internal import CRSVG
internal import FoundationEssentials
internal import TintypeCore

/// A parsed SVG document.
final class SVGDocument {
    let info: ImageInfo
    private let handle: UnsafeMutablePointer<RsvgHandle>

    init(_ data: Data) throws(ImageError) {
        guard data.count <= SVGCoder.maximumBytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the SVG has \(ByteCount(data.count)), over the limit of \(ByteCount(SVGCoder.maximumBytes))")
        }
        var error: UnsafeMutablePointer<GError>?
        // Without a base address and without flags: nothing else is read, and XML entities keep their limits.
        let parsed = data.withUnsafeBytes { bytes in
            rsvg_handle_new_from_data(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), gsize(bytes.count), &error)
        }
        guard let handle = parsed else { throw Self.failure(error, data) }
        self.handle = handle
        // CSS pixels: 96 to an inch.
        rsvg_handle_set_dpi(handle, 96)
        let size = Self.size(handle)
        info = ImageInfo(format: .svg, size: size, hasAlpha: true)
        guard !size.isEmpty else { throw .corrupt("the SVG has a size of \(size)") }
    }

    deinit { g_object_unref(handle) }

    /// The size in pixels of CSS, rounded up.
    private static func size(_ handle: UnsafeMutablePointer<RsvgHandle>) -> PixelSize {
        var (width, height) = (0.0, 0.0)
        if rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height) != 0 {
            return pixels(width, height)
        }
        var hasWidth: gboolean = 0
        var hasHeight: gboolean = 0
        var hasViewBox: gboolean = 0
        var (statedWidth, statedHeight, viewBox) = (RsvgLength(), RsvgLength(), RsvgRectangle())
        rsvg_handle_get_intrinsic_dimensions(
            handle, &hasWidth, &statedWidth, &hasHeight, &statedHeight, &hasViewBox, &viewBox)
        if hasViewBox != 0 { return pixels(viewBox.width, viewBox.height) }
        // Neither a size nor a viewBox: what the drawing covers.
        var (ink, logical) = (RsvgRectangle(), RsvgRectangle())
        guard rsvg_handle_get_geometry_for_element(handle, nil, &ink, &logical, nil) != 0, ink.width > 0, ink.height > 0
        else { return PixelSize(width: 300, height: 150) }  // CSS 2.2, section 10.3.2
        return pixels(ink.x + ink.width, ink.y + ink.height)
    }

    private static func pixels(_ width: Double, _ height: Double) -> PixelSize {
        guard width > 0, height > 0, width < 1e9, height < 1e9 else { return .zero }
        return PixelSize(width: Int(width.rounded(.up)), height: Int(height.rounded(.up)))
    }

    /// Draws the whole picture at a size.
    func draw(_ size: PixelSize, context: DecodeContext) throws(ImageError) -> PixelBuffer {
        let buffer = try MutablePixelBuffer(size: size, cleared: true, pool: context.pool)
        guard max(size.width, size.height) <= 32_767,
            let surface = cairo_image_surface_create_for_data(
                buffer.row(0).assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(size.width),
                Int32(size.height), Int32(buffer.bytesPerRow)), let cairo = cairo_create(surface)
        else {
            throw ImageError(.limitExceeded, stage: .decode, reason: "cairo cannot draw \(size) pixels")
        }
        let failure = draw(on: cairo, size)
        cairo_surface_flush(surface)
        let status = cairo_status(cairo)
        cairo_destroy(cairo)
        cairo_surface_destroy(surface)
        if let failure { throw failure }
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .corrupt("the SVG cannot be drawn (cairo: \(String(cString: cairo_status_to_string(status))))")
        }
        for y in 0..<size.height { Self.swapRedAndBlue(buffer.row(y), count: size.width) }
        return buffer.freeze()
    }

    private func draw(on cairo: OpaquePointer, _ size: PixelSize) -> ImageError? {
        var viewport = RsvgRectangle(x: 0, y: 0, width: Double(info.size.width), height: Double(info.size.height))
        // The same factor in both directions, unless the options stretch the picture.
        cairo_scale(cairo, Double(size.width) / viewport.width, Double(size.height) / viewport.height)
        var error: UnsafeMutablePointer<GError>?
        guard rsvg_handle_render_document(handle, cairo, &viewport, &error) == 0 else { return nil }
        return Self.failure(error, nil)
    }

    /// From cairo's order of bytes, which is blue, green, red, alpha on little-endian machines.
    private static func swapRedAndBlue(_ row: UnsafeMutableRawPointer, count: Int) {
        let words = row.assumingMemoryBound(to: UInt32.self)
        for x in 0..<count {
            let pixel = words[x]
            words[x] = pixel & 0xFF00_FF00 | (pixel & 0xFF) << 16 | pixel >> 16 & 0xFF
        }
    }

    private static func failure(_ error: UnsafeMutablePointer<GError>?, _ data: Data?) -> ImageError {
        guard let error else { return .corrupt("the SVG cannot be drawn") }
        defer { g_error_free(error) }
        let message = String(cString: error.pointee.message)
        if message.contains("limit") || message.contains("too many") {
            return ImageError(.limitExceeded, stage: .decode, reason: "the SVG is over a limit (librsvg: \(message))")
        }
        // A document that does not close its root has no end.
        let isCut = data.map { !String(decoding: $0.suffix(1_024), as: UTF8.self).contains("</svg") } ?? false
        return isCut
            ? .truncated("the SVG ends too early (librsvg: \(message))")
            : .corrupt("the SVG is damaged (librsvg: \(message))")
    }
}
#endif
