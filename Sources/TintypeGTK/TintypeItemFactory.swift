#if GTK
internal import CGTK
public import TintypeDisplay

/// A factory of pictures for `GtkGridView` and `GtkListView`.
///
/// The view reuses the pictures as it scrolls. When a picture is reused, its load is canceled, and its image is released. Images that
/// aren't in memory start to load after the view's layout, visible images first.
@MainActor public final class TintypeItemFactory {
    /// The `GtkSignalListItemFactory`. The object retains it.
    public let pointer: OpaquePointer

    /// Creates a factory of plain pictures.
    /// - Parameters:
    ///   - manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    ///   - bind: sets the image of a picture for the item at a position.
    public convenience init(
        manager: ImageManager? = nil, bind: @escaping @MainActor (_ picture: TintypePicture, _ position: Int) -> Void
    ) {
        self.init(manager: manager) {
            $0.widget
        } bind: { picture, _, position in
            bind(picture, position)
        }
    }

    /// Creates a factory of widgets that contain a picture, for example beside a label.
    /// - Parameters:
    ///   - manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    ///   - makeWidget: creates a widget around a picture, which it may configure. It is called for each widget that the view creates.
    ///   - bind: sets the image of a picture, and the rest of its widget, for the item at a position.
    ///   - unbind: called before a picture and its widget are removed from their item; `nil` for none. The picture discards its image and
    ///     its load itself.
    public init(
        manager: ImageManager? = nil, makeWidget: @escaping @MainActor (TintypePicture) -> WidgetPointer,
        bind: @escaping @MainActor (_ picture: TintypePicture, _ widget: WidgetPointer, _ position: Int) -> Void,
        unbind: (@MainActor (_ picture: TintypePicture, _ widget: WidgetPointer) -> Void)? = nil
    ) {
        pointer = gtk_signal_list_item_factory_new()
        let factory = UnsafeMutableRawPointer(pointer)
        GObjects.connectArgument(factory, "setup") { item in
            guard let item else { return }
            let picture = TintypePicture(manager: manager)
            gtk_list_item_set_child(OpaquePointer(item), makeWidget(picture))
            // The item retains the picture until it is torn down.
            g_object_set_data_full(
                GObjects.object(item), Self.key, Unmanaged.passRetained(picture).toOpaque(),
                { data in if let data { Unmanaged<TintypePicture>.fromOpaque(data).release() } })
        }
        GObjects.connectArgument(factory, "bind") { item in
            guard let item, let (picture, widget) = Self.parts(item) else { return }
            picture.state.awaitPlace()
            bind(picture, widget, Int(gtk_list_item_get_position(OpaquePointer(item))))
        }
        GObjects.connectArgument(factory, "unbind") { item in
            guard let item, let (picture, widget) = Self.parts(item) else { return }
            unbind?(picture, widget)
            picture.imageBinding.prepareForReuse()
            // Without the images that the program asked for when it was told of the ends.
            picture.imageBinding.prepareForReuse()
        }
        GObjects.connectArgument(factory, "teardown") { item in
            guard let item else { return }
            gtk_list_item_set_child(OpaquePointer(item), nil)
            g_object_set_data_full(GObjects.object(item), Self.key, nil, nil)
        }
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// Returns ``pointer`` with an additional reference, for functions that take ownership of a reference, such as `gtk_grid_view_new`.
    public func retainedPointer() -> OpaquePointer {
        g_object_ref(UnsafeMutableRawPointer(pointer))
        return pointer
    }

    private static let key = "tintype-picture"

    private static func parts(_ item: UnsafeMutableRawPointer) -> (TintypePicture, WidgetPointer)? {
        guard let picture = g_object_get_data(GObjects.object(item), key),
            let widget = gtk_list_item_get_child(OpaquePointer(item))
        else { return nil }
        return (Unmanaged<TintypePicture>.fromOpaque(picture).takeUnretainedValue(), widget)
    }
}
#endif
