#if GTK
import CGTK
import TintypeGTK

/// A grid of pictures of GTK that all show one texture: the gallery without the loading of images.
@MainActor enum PlainGrid {
    /// Makes the factory of the grid. The texture lives as long as the program.
    static func factory(side: Int32) -> OpaquePointer {
        let (width, height) = (side, side * 3 / 4)
        let memory = [UInt8](repeating: 128, count: Int(width * height) * 4)
        let bytes = g_bytes_new(memory, gsize(memory.count))
        let texture = gdk_memory_texture_new(
            width, height, GDK_MEMORY_R8G8B8A8_PREMULTIPLIED, bytes, gsize(width) * 4)
        let setup: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, item, texture in
            guard let item, let picture = gtk_picture_new_for_paintable(texture.map { OpaquePointer($0) }) else {
                return
            }
            gtk_widget_set_size_request(picture, 168, 168)
            gtk_list_item_set_child(OpaquePointer(item), picture)
        }
        let factory: OpaquePointer = gtk_signal_list_item_factory_new()
        g_signal_connect_data(
            UnsafeMutableRawPointer(factory), "setup", unsafeBitCast(setup, to: GCallback.self),
            texture.map { UnsafeMutableRawPointer($0) }, nil, GConnectFlags(rawValue: 0))
        return factory
    }
}
#endif
