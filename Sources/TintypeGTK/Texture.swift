#if GTK
internal import CGTK
public import TintypeDisplay

extension Image {
    /// Creates a `GdkTexture` from the pixels of the image, or of its first frame, without copying them.
    ///
    /// A texture is also a `GdkPaintable`. Widgets of the library that show the image share it. Release it with `g_object_unref`.
    /// - Returns: the texture, with a reference for the caller; `nil` if a side is longer than GTK can show, 2,147,483,647 pixels.
    @MainActor public func makeTexture() -> OpaquePointer? {
        guard let texture = Texture.of(pixels) else { return nil }
        g_object_ref(UnsafeMutableRawPointer(texture.pointer))
        return texture.pointer
    }
}

/// A texture of GTK that shows the pixels of a buffer, without a copy of them. All widgets that show a buffer share its texture, which GTK
/// uploads once.
@MainActor final class Texture {
    let pointer: OpaquePointer
    let size: PixelSize
    private let key: ObjectIdentifier

    /// The buffers that textures of GTK use now.
    nonisolated static let buffersInUse = Lock(0)

    private struct Entry {
        weak var texture: Texture?
    }

    /// The textures that are in use, by their buffers. A texture keeps its buffer, so that no other buffer has its key.
    private static var shared: [ObjectIdentifier: Entry] = [:]

    /// Returns the texture of a buffer; `nil` for a size that GTK can't show.
    static func of(_ pixels: PixelBuffer) -> Texture? {
        let key = ObjectIdentifier(pixels)
        if let texture = shared[key]?.texture { return texture }
        let texture = Texture(pixels, key)
        if let texture { shared[key] = Entry(texture: texture) }
        return texture
    }

    private init?(_ pixels: PixelBuffer, _ key: ObjectIdentifier) {
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
        self.key = key
    }

    isolated deinit {
        // Another texture may have the place already.
        if Self.shared[key]?.texture == nil { Self.shared[key] = nil }
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }
}

/// A texture at the size at which it is shown.
struct ScaledTexture {
    let texture: Texture
    /// The number of pixels per application pixel, at least 1.
    let scale: Double

    @MainActor init?(_ pixels: PixelBuffer, scale: Double) {
        guard let texture = Texture.of(pixels) else { return nil }
        self.texture = texture
        self.scale = scale >= 1 ? scale : 1
    }

    /// The size in application pixels, at least 1.
    @MainActor var size: (width: Double, height: Double) {
        (max(1, Double(texture.size.width) / scale), max(1, Double(texture.size.height) / scale))
    }
}
#endif
