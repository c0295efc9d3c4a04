#if GTK
internal import CGTK
internal import CGTKShim
public import TintypeDisplay

/// Functions that capture the drawing of widgets, for screenshots and tests.
@MainActor public enum WidgetCapture {
    /// Returns an image of a widget as it was last drawn; `nil` if it isn't in a visible window.
    /// - Parameter widget: the widget.
    public static func image(of widget: WidgetPointer) -> Image? {
        let (width, height) = (gtk_widget_get_width(widget), gtk_widget_get_height(widget))
        guard width > 0, height > 0, let paintable = gtk_widget_paintable_new(widget) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        let scale = Int(max(1, gtk_widget_get_scale_factor(widget)))
        return image(of: paintable, width: Int(width), height: Int(height), scale: scale, in: widget)
    }

    /// Returns a paintable as a widget would draw it.
    static func image(
        of paintable: OpaquePointer, width: Int, height: Int, scale: Int = 1, in widget: WidgetPointer
    ) -> Image? {
        guard let native = gtk_widget_get_native(widget), let renderer = gtk_native_get_renderer(native),
            let snapshot = gtk_snapshot_new()
        else { return nil }
        gtk_snapshot_scale(snapshot, Float(scale), Float(scale))
        gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
        let size = PixelSize(width: width * scale, height: height * scale)
        guard let node = gtk_snapshot_free_to_node(snapshot) else { return cleared(size) }
        defer { gsk_render_node_unref(node) }
        var bounds = Placement.rect(0, 0, Double(size.width), Double(size.height))
        guard let texture = gsk_renderer_render_texture(renderer, node, &bounds) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        return pixels(of: texture, size).map { Image(pixels: $0) }
    }

    private static func cleared(_ size: PixelSize) -> Image? {
        guard let pixels = try? MutablePixelBuffer(size: size, cleared: true) else { return nil }
        return Image(pixels: pixels.freeze())
    }

    private static func pixels(of texture: OpaquePointer, _ size: PixelSize) -> PixelBuffer? {
        guard var pixels = try? MutablePixelBuffer(size: size) else { return nil }
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            gdk_texture_download(texture, base.assumingMemoryBound(to: guchar.self), gsize(bytesPerRow))
            // GTK's format is the same as cairo's: 32-bit words with alpha in the highest byte.
            for row in 0..<size.height {
                for column in 0..<size.width {
                    let offset = row * bytesPerRow + column * 4
                    let word = memory.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                    let rgba = SIMD4(
                        UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 8),
                        UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 24))
                    memory.storeBytes(of: rgba, toByteOffset: offset, as: SIMD4<UInt8>.self)
                }
            }
        }
        return pixels.freeze()
    }
}
#endif
