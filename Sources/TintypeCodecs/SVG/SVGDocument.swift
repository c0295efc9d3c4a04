#if SVG
internal import CRSVG
internal import FoundationEssentials
internal import TintypeImages

/// A parsed SVG document.
final class SVGDocument {
    let info: ImageInfo
    /// The size in pixels of CSS, which needn't be whole.
    let width: Double
    let height: Double
    /// The bytes that the images inside take while they are drawn.
    let imageBytes: Int
    private let handle: UnsafeMutablePointer<RsvgHandle>

    /// Reads a document.
    init(_ data: Data, context: ProcessingContext) throws(ImageError) {
        guard data.count <= SVGCoder.maximumBytes else {
            throw SVGContents.refusal(
                "is \(ByteCount(data.count)), over the limit of \(ByteCount(SVGCoder.maximumBytes))")
        }
        let data = try SVGLimits.markup(of: data)
        imageBytes = try SVGLimits(data, context).imageBytes
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
        (width, height) = Self.size(handle)
        let size = CairoCanvas.pixels(width, height)
        info = ImageInfo(format: .svg, size: size, hasAlpha: true)
        guard !size.isEmpty else { throw .corrupt("the SVG has the invalid size \(size)") }
    }

    deinit { g_object_unref(handle) }

    private static func size(_ handle: UnsafeMutablePointer<RsvgHandle>) -> (width: Double, height: Double) {
        var (width, height) = (0.0, 0.0)
        if rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height) != 0 {
            return (width, height)
        }
        var hasWidth: gboolean = 0
        var hasHeight: gboolean = 0
        var hasViewBox: gboolean = 0
        var (statedWidth, statedHeight, viewBox) = (RsvgLength(), RsvgLength(), RsvgRectangle())
        rsvg_handle_get_intrinsic_dimensions(
            handle, &hasWidth, &statedWidth, &hasHeight, &statedHeight, &hasViewBox, &viewBox)
        if hasViewBox != 0 {
            // The side that isn't stated follows from the other and the ratio (CSS 2.2, section 10.3.2).
            let ratio = viewBox.width / viewBox.height
            if ratio > 0, ratio.isFinite {
                if hasWidth != 0, let width = pixels(statedWidth) { return (width, width / ratio) }
                if hasHeight != 0, let height = pixels(statedHeight) { return (height * ratio, height) }
            }
            return (viewBox.width, viewBox.height)
        }
        // Neither a size nor a viewBox: the area of the drawing.
        var (ink, logical) = (RsvgRectangle(), RsvgRectangle())
        guard rsvg_handle_get_geometry_for_element(handle, nil, &ink, &logical, nil) != 0, ink.width > 0, ink.height > 0
        else { return (300, 150) }  // CSS 2.2, section 10.3.2
        return (ink.x + ink.width, ink.y + ink.height)
    }

    /// A length in pixels of CSS; `nil` if it depends on something else, or is none.
    private static func pixels(_ length: RsvgLength) -> Double? {
        let pixelsPerUnit: Double
        switch length.unit {
        case RSVG_UNIT_PX: pixelsPerUnit = 1
        case RSVG_UNIT_IN: pixelsPerUnit = 96
        case RSVG_UNIT_CM: pixelsPerUnit = 96 / 2.54
        case RSVG_UNIT_MM: pixelsPerUnit = 96 / 25.4
        case RSVG_UNIT_PT: pixelsPerUnit = 96 / 72
        case RSVG_UNIT_PC: pixelsPerUnit = 16
        // librsvg's size of a font where the document states none; it doesn't tell the other.
        case RSVG_UNIT_EM: pixelsPerUnit = 12
        case RSVG_UNIT_EX: pixelsPerUnit = 6
        default: return nil
        }
        return length.length > 0 ? length.length * pixelsPerUnit : nil
    }

    /// Draws the whole picture at a size.
    func draw(_ size: PixelSize, context: ProcessingContext) throws(ImageError) -> PixelBuffer {
        var viewport = RsvgRectangle(x: 0, y: 0, width: width, height: height)
        // At its own size, a part of the last pixels stays clear.
        let picture = size == info.size ? (Double(size.width), Double(size.height)) : (width, height)
        return try CairoCanvas.draw("SVG", picture, at: size, pool: context.pool) { cairo in
            var error: UnsafeMutablePointer<GError>?
            guard rsvg_handle_render_document(handle, cairo, &viewport, &error) == 0 else { return nil }
            return Self.failure(error, nil)
        }.pixels
    }

    private static func failure(_ error: UnsafeMutablePointer<GError>?, _ data: Data?) -> ImageError {
        guard let message = GLibError(taking: error)?.message else { return .corrupt("the SVG can't be drawn") }
        if message.contains("limit") || message.contains("too many") {
            return ImageError(.limitExceeded, stage: .decode, reason: "the SVG is over a limit (librsvg: \(message))")
        }
        if message.contains("NoMemory") {
            return ImageError(
                .outOfMemory, stage: .decode, reason: "the SVG takes too much memory (librsvg: \(message))")
        }
        // A document that does not close its root has no end.
        let isCut = data.map { !String(decoding: $0.suffix(1_024), as: UTF8.self).contains("</svg") } ?? false
        return isCut
            ? .truncated("the SVG ends too early (librsvg: \(message))")
            : .corrupt("the SVG is damaged (librsvg: \(message))")
    }
}
#endif
