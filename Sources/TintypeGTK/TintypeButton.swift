#if GTK
internal import CGTK
public import TintypeDisplay

/// A button in a GTK window that loads an image and a background for each of its states.
///
/// `setImage` comes from ``/Tintype/ImageDisplay``.
///
/// It creates a `GtkButton`, or adds images to a `GtkButton` of the program. The label or other child of that button moves into a row
/// beside the image, so that `gtk_button_get_label` then returns `NULL`. A state without an image uses the normal state's. Loads and images
/// belong to the widget: they continue when the object is released, and end when the widget is destroyed. The button is as large as its
/// image: set a ``ImageWidget/decodeSize``.
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
            let (image, background) = (SlotPaintable([]), SlotPaintable([]))
            let parts = Self.fill(widget, image, background)
            let state = PictureState(
                widget, manager: manager, slotPaintables: [image, background], front: parts?.front,
                mainSlot: Self.imageSlot(for: .normal)
            ) { [weak image, weak background] slot in
                slot.rawValue.hasPrefix(Self.background) ? background : image
            }
            // A label or another child that is set later comes into the row, too, but not while GTK sets it.
            let notifier = MainActorNotifier { [weak state] in
                if let widget = state?.widget, let parts { Self.adopt(widget, parts) }
            }
            GObjects.connectArgument(widget, "notify::child") { _ in notifier.notify() }
            Self.select(widget, image, background)
            GObjects.connectArgument(widget, "state-flags-changed") { [weak image, weak background, weak state] _ in
                if let image, let background { Self.select(widget, image, background) }
                state?.needsTick()
            }
            return state
        }
    }

    /// The widgets in a button.
    private struct Parts {
        /// The picture of the background, which has the row above it.
        var below: WidgetPointer
        /// The row of the image and the program's child.
        var row: WidgetPointer
        /// The picture of the image.
        var front: WidgetPointer
    }

    /// Puts the background below the image, and the image beside the child that the button has.
    /// - Returns: `nil` if the widget is no button.
    private static func fill(_ widget: WidgetPointer, _ image: SlotPaintable, _ background: SlotPaintable) -> Parts? {
        guard GObjects.isA(widget, gtk_button_get_type()), let below = gtk_picture_new(), let front = gtk_picture_new(),
            let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)
        else { return nil }
        gtk_picture_set_content_fit(OpaquePointer(below), GTK_CONTENT_FIT_COVER)
        background.show(in: below, isMeasured: false)
        image.show(in: front, isMeasured: true)
        // In a row, a picture that can shrink gets nothing but its minimum.
        gtk_picture_set_can_shrink(OpaquePointer(front), 0)
        gtk_widget_set_halign(box, GTK_ALIGN_CENTER)
        gtk_box_append(self.box(box), front)
        // The button has the size of the row, which the background covers.
        gtk_widget_set_parent(box, below)
        GObjects.connect(below, "destroy") { if gtk_widget_get_parent(box) == below { gtk_widget_unparent(box) } }
        let parts = Parts(below: below, row: box, front: front)
        adopt(widget, parts)
        // They live as long as the button, even while it has another child.
        g_object_ref(UnsafeMutableRawPointer(below))
        GObjects.connect(widget, "destroy") { g_object_unref(UnsafeMutableRawPointer(below)) }
        return parts
    }

    private static func box(_ box: WidgetPointer) -> UnsafeMutablePointer<GtkBox> {
        UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
    }

    /// Moves the child of a button beside the image, in place of an earlier one.
    private static func adopt(_ widget: WidgetPointer, _ parts: Parts) {
        let button = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self)
        let child = gtk_button_get_child(button)
        guard child != parts.below, gtk_widget_in_destruction(widget) == 0 else { return }
        if let child {
            if let old = gtk_widget_get_next_sibling(parts.front) { gtk_box_remove(box(parts.row), old) }
            g_object_ref(UnsafeMutableRawPointer(child))
            gtk_button_set_child(button, nil)
            gtk_box_append(box(parts.row), child)
            g_object_unref(UnsafeMutableRawPointer(child))
        }
        gtk_button_set_child(button, parts.below)
    }

    /// Shows the images of the present state.
    private static func select(_ widget: WidgetPointer, _ image: SlotPaintable, _ background: SlotPaintable) {
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
