#if GTK
internal import CGTK
public import TintypeDisplay

/// A picture in a GTK window that loads its images.
///
/// It makes a `GtkPicture`, or works with a `GtkPicture` or `GtkImage` of the program. Loads, animations, and images belong to the widget:
/// they go on when the object is released, and end when the widget is destroyed. While the widget is unmapped, its loads are suspended;
/// while it is out of sight, animations stand still and loads have a low priority.
@MainActor public final class TintypePicture: ImageWidget {
    /// Creates a picture with a `GtkPicture` of its own.
    /// - Parameter manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    public convenience init(manager: ImageManager? = nil) {
        self.init(wrapping: gtk_picture_new(), manager: manager)
    }

    /// Creates a picture that shows its images in a widget of the program. Pictures that wrap the same widget share everything.
    /// - Parameters:
    ///   - widget: a `GtkPicture` or a `GtkImage`. In other widgets, nothing is shown.
    ///   - manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    public init(wrapping widget: WidgetPointer, manager: ImageManager? = nil) {
        super.init(widget) {
            let face = Face([.image])
            if let paintable = face.paintable {
                if GObjects.isA(widget, gtk_picture_get_type()) {
                    gtk_picture_set_paintable(OpaquePointer(widget), paintable)
                } else if GObjects.isA(widget, gtk_image_get_type()) {
                    gtk_image_set_from_paintable(OpaquePointer(widget), paintable)
                }
            }
            return PictureState(widget, manager: manager, faces: [face]) { [weak face] _ in face }
        }
    }

    /// True if animations are played, the default; false to show their first frame. A change affects images that are set afterwards.
    public var playsAnimations: Bool {
        get { state.playsAnimations }
        set { state.playsAnimations = newValue }
    }

    /// True if the image of the slot ``/Tintype/ImageSlot/highlighted`` is shown, if any.
    public var isHighlighted = false {
        didSet {
            state.faces.first?.order = isHighlighted ? [.highlighted, .image] : [.image]
            state.needsTick()
        }
    }

    /// The player of the animation that is shown; `nil` for a still image. It changes speed, mode, and number of loops.
    public var player: AnimatedImagePlayer? { state.player(in: .image) }
}
#endif
