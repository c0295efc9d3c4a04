#if GTK
internal import CGTK
internal import TintypeDisplay

/// A texture of GTK that shows the pixels of a buffer, without a copy of them.
final class Texture {
    let pointer: OpaquePointer
    let size: PixelSize
    /// The number of pixels per application pixel.
    let scale: Double

    /// The buffers that textures of GTK use now.
    static let buffersInUse = Lock(0)

    /// Creates a texture; `nil` for a size that GTK can't show.
    init?(_ pixels: PixelBuffer, scale: Double) {
        guard let width = Int32(exactly: pixels.width), let height = Int32(exactly: pixels.height), width > 0,
            height > 0
        else { return nil }
        let format =
            switch pixels.format {
            case .rgba8: GDK_MEMORY_R8G8B8A8_PREMULTIPLIED
            case .rgba16: GDK_MEMORY_R16G16B16A16_PREMULTIPLIED
            case .rgbaFloat16: GDK_MEMORY_R16G16B16A16_FLOAT_PREMULTIPLIED
            }
        let retained = Unmanaged.passRetained(pixels).toOpaque()
        Self.buffersInUse.withLock { $0 += 1 }
        // The address stays valid as long as the buffer, which the bytes retain.
        let bytes = pixels.withUnsafeBytes { memory in
            g_bytes_new_with_free_func(
                memory.baseAddress, gsize(memory.count),
                { data in
                    guard let data else { return }
                    Texture.buffersInUse.withLock { $0 -= 1 }
                    Unmanaged<PixelBuffer>.fromOpaque(data).release()
                }, retained)
        }
        defer { g_bytes_unref(bytes) }
        guard let texture = gdk_memory_texture_new(width, height, format, bytes, gsize(pixels.bytesPerRow)) else {
            return nil
        }
        pointer = texture
        size = pixels.size
        self.scale = scale >= 1 ? scale : 1
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// The size in application pixels, at least 1.
    var pointSize: (width: Double, height: Double) {
        (max(1, Double(size.width) / scale), max(1, Double(size.height) / scale))
    }
}
#endif
