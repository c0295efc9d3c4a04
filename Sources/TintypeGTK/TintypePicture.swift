#if GTK
internal import CGTK
public import TintypeDisplay

/// A picture in a GTK window that loads its images.
///
/// `setImage` comes from ``/Tintype/ImageDisplay``.
///
/// It creates a `GtkPicture`, or wraps a `GtkPicture` or `GtkImage` of the program, for example from a `GtkBuilder`. Loads, animations, and
/// images belong to the widget: they continue when the object is released, and end when the widget is destroyed. While the widget is
/// unmapped in its window, its loads are suspended. While it is out of sight, animations stop and loads have a low priority.
@MainActor public final class TintypePicture: ImageWidget {
    /// Creates a picture with a `GtkPicture` of its own.
    /// - Parameter manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    public convenience init(manager: ImageManager? = nil) {
        self.init(wrapping: gtk_picture_new(), manager: manager)
    }

    /// Creates a picture that shows its images in a widget of the program. Pictures that wrap the same widget share everything, including
    /// the manager of the first.
    /// - Parameters:
    ///   - widget: a `GtkPicture` or a `GtkImage`. Other widgets show nothing.
    ///   - manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    public init(wrapping widget: WidgetPointer, manager: ImageManager? = nil) {
        super.init(widget) {
            let slotPaintable = SlotPaintable([.image])
            let isPicture = GObjects.isA(widget, gtk_picture_get_type())
            if let paintable = slotPaintable.paintable {
                if isPicture {
                    slotPaintable.show(in: widget, isMeasured: true)
                } else if GObjects.isA(widget, gtk_image_get_type()) {
                    gtk_image_set_from_paintable(OpaquePointer(widget), paintable)
                }
            }
            return PictureState(
                widget, manager: manager, slotPaintables: [slotPaintable], front: isPicture ? widget : nil,
                mainSlot: .image
            ) { [weak slotPaintable] _ in slotPaintable }
        }
    }

    /// True to show the image of the slot ``/Tintype/ImageSlot/highlighted``, if there is one.
    public var isHighlighted: Bool {
        get { state.slotPaintables.first?.order.first == .highlighted }
        set {
            state.slotPaintables.first?.order = newValue ? [.highlighted, .image] : [.image]
            state.needsTick()
        }
    }

    /// The player of the current animation; `nil` for a still image. Its initial settings come from ``ImageWidget/playback``.
    public var player: AnimatedImagePlayer? { state.player(in: .image) }
}
#endif
