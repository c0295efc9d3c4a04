#if GTK
internal import CGTK
public import TintypeDisplay

/// A factory of pictures for `GtkGridView` and `GtkListView`.
///
/// The view reuses the pictures while it is scrolled. The load of a picture that is reused is canceled, and its image released. An image
/// that isn't in memory starts to load when the view has been laid out, those in sight first.
@MainActor public final class TintypeItemFactory {
    /// The `GtkSignalListItemFactory`, which the object retains.
    public let pointer: OpaquePointer

    /// Creates a factory.
    /// - Parameters:
    ///   - manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    ///   - makeWidget: makes the widget of an item around its picture; `nil` for the picture alone. It is called for each widget that the
    ///     view makes, and may change the picture.
    ///   - bind: sets the image of a picture for the item at a position.
    public init(
        manager: ImageManager? = nil, makeWidget: (@MainActor (TintypePicture) -> WidgetPointer)? = nil,
        bind: @escaping @MainActor (_ picture: TintypePicture, _ position: Int) -> Void
    ) {
        pointer = gtk_signal_list_item_factory_new()
        let factory = UnsafeMutableRawPointer(pointer)
        GObjects.connectArgument(factory, "setup") { item in
            guard let item else { return }
            let picture = TintypePicture(manager: manager)
            gtk_list_item_set_child(OpaquePointer(item), makeWidget?(picture) ?? picture.widget)
            // The item retains the picture until it is torn down.
            g_object_set_data_full(
                GObjects.object(item), Self.key, Unmanaged.passRetained(picture).toOpaque(),
                { data in if let data { Unmanaged<TintypePicture>.fromOpaque(data).release() } })
        }
        GObjects.connectArgument(factory, "bind") { item in
            guard let item, let picture = Self.picture(item) else { return }
            picture.state.awaitPlace()
            bind(picture, Int(gtk_list_item_get_position(OpaquePointer(item))))
        }
        GObjects.connectArgument(factory, "unbind") { item in
            guard let item else { return }
            Self.picture(item)?.imageBinding.prepareForReuse()
        }
        GObjects.connectArgument(factory, "teardown") { item in
            guard let item else { return }
            gtk_list_item_set_child(OpaquePointer(item), nil)
            g_object_set_data_full(GObjects.object(item), Self.key, nil, nil)
        }
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// Returns ``pointer`` with another reference, for functions that take a reference over, such as `gtk_grid_view_new`.
    public func retainedPointer() -> OpaquePointer {
        g_object_ref(UnsafeMutableRawPointer(pointer))
        return pointer
    }

    private static let key = "tintype-picture"

    private static func picture(_ item: UnsafeMutableRawPointer) -> TintypePicture? {
        g_object_get_data(GObjects.object(item), key).map {
            Unmanaged<TintypePicture>.fromOpaque($0).takeUnretainedValue()
        }
    }
}
#endif
