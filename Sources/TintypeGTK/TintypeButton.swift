#if GTK
internal import CGTK
public import TintypeDisplay

/// A button in a GTK window that loads an image and a background for each of its states.
///
/// It makes a `GtkButton`, or adds images to the program's own button, whose child stays. A state without an image has the image of the
/// normal state. Loads and images belong to the widget: they go on when the object is released, and end when the widget is destroyed.
@MainActor public final class TintypeButton: ImageWidget {
    /// A state of a button.
    public enum State: String, Sendable, CaseIterable {
        /// Neither the pointer nor the keyboard acts on the button.
        case normal
        /// The pointer is over the button.
        case hover
        /// The button is held down.
        case pressed
        /// The button doesn't react, because it is insensitive.
        case disabled
    }

    /// Creates a button with a `GtkButton` of its own.
    /// - Parameter manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    public convenience init(manager: ImageManager? = nil) {
        self.init(wrapping: gtk_button_new(), manager: manager)
    }

    /// Creates a button that adds images to a `GtkButton` of the program.
    /// - Parameters:
    ///   - widget: the button. Objects that wrap the same button share everything.
    ///   - manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    public init(wrapping widget: WidgetPointer, manager: ImageManager? = nil) {
        super.init(widget) {
            let (image, background) = (Face([]), Face([]))
            if GObjects.isA(widget, gtk_button_get_type()) { Self.fill(widget, image, background) }
            let state = PictureState(widget, manager: manager, faces: [image, background]) {
                [weak image, weak background] slot in
                slot.rawValue.hasPrefix(Self.background) ? background : image
            }
            Self.select(widget, image, background)
            GObjects.connectArgument(widget, "state-flags-changed") { [weak image, weak background, weak state] _ in
                if let image, let background { Self.select(widget, image, background) }
                state?.needsTick()
            }
            return state
        }
    }

    /// Puts the background below the image, and the image beside the child that the button has.
    private static func fill(_ widget: WidgetPointer, _ image: Face, _ background: Face) {
        let button = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self)
        guard let overlay = gtk_overlay_new(), let below = gtk_picture_new(), let front = gtk_picture_new(),
            let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)
        else { return }
        gtk_picture_set_paintable(OpaquePointer(below), background.paintable)
        gtk_picture_set_content_fit(OpaquePointer(below), GTK_CONTENT_FIT_COVER)
        gtk_picture_set_paintable(OpaquePointer(front), image.paintable)
        let row = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
        gtk_widget_set_halign(box, GTK_ALIGN_CENTER)
        gtk_box_append(row, front)
        if let child = gtk_button_get_child(button) {
            g_object_ref(UnsafeMutableRawPointer(child))
            gtk_button_set_child(button, nil)
            gtk_box_append(row, child)
            g_object_unref(UnsafeMutableRawPointer(child))
        }
        gtk_overlay_set_child(OpaquePointer(overlay), below)
        gtk_overlay_add_overlay(OpaquePointer(overlay), box)
        gtk_overlay_set_measure_overlay(OpaquePointer(overlay), box, 1)
        gtk_button_set_child(button, overlay)
    }

    /// Shows the images of the present state.
    private static func select(_ widget: WidgetPointer, _ image: Face, _ background: Face) {
        let states = shownStates(gtk_widget_get_state_flags(widget))
        image.order = states.map { slot(Self.image, $0) }
        background.order = states.map { slot(Self.background, $0) }
    }

    private static func shownStates(_ flags: GtkStateFlags) -> [State] {
        func has(_ flag: GtkStateFlags) -> Bool { flags.rawValue & flag.rawValue != 0 }
        if has(GTK_STATE_FLAG_INSENSITIVE) { return [.disabled, .normal] }
        if has(GTK_STATE_FLAG_ACTIVE) { return [.pressed, .normal] }
        return has(GTK_STATE_FLAG_PRELIGHT) ? [.hover, .normal] : [.normal]
    }

    // MARK: Slots

    private static let image = "image", background = "background"

    private static func slot(_ kind: String, _ state: State) -> ImageSlot {
        ImageSlot(rawValue: "\(kind) \(state.rawValue)")
    }

    /// Returns the slot of the image for a state.
    /// - Parameter state: the state of the button.
    public static func imageSlot(for state: State) -> ImageSlot { slot(image, state) }

    /// Returns the slot of the background for a state.
    /// - Parameter state: the state of the button.
    public static func backgroundSlot(for state: State) -> ImageSlot { slot(background, state) }
}
#endif
