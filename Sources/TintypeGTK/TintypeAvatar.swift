#if GTK
internal import CGTK
public import TintypeDisplay

/// A round picture of a person, with initials if there is no image.
///
/// `setImage` comes from ``/Tintype/ImageDisplay``.
///
/// The avatar is a `GtkPicture` with the style class `tintype-avatar`. The initials are a label with the class `tintype-initials` and,
/// depending on the name, one of the classes `tintype-color-0` to `tintype-color-5`. Programs may restyle them in their style sheets.
@MainActor public final class TintypeAvatar: ImageWidget {
    private let side: Int32

    /// Creates an avatar.
    /// - Parameters:
    ///   - name: the name of the person, which is also the alternative text.
    ///   - size: the diameter, in application pixels, at least 8.
    ///   - manager: the manager that loads the images; `nil` for ``/Tintype/ImageBinding/defaultManager``.
    public init(name: String = "", size: Int = 32, manager: ImageManager? = nil) {
        self.name = name
        side = Int32(clamping: max(8, min(size, 10_000)))
        let widget: WidgetPointer = gtk_picture_new()
        super.init(widget) {
            let slotPaintable = SlotPaintable([.image])
            slotPaintable.show(in: widget, isMeasured: false)
            return PictureState(
                widget, manager: manager, slotPaintables: [slotPaintable], front: widget, mainSlot: .image
            ) {
                [weak slotPaintable] _ in slotPaintable
            }
        }
        Self.addStyle(to: widget)
        gtk_picture_set_content_fit(OpaquePointer(widget), GTK_CONTENT_FIT_COVER)
        gtk_widget_add_css_class(widget, "tintype-avatar")
        gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
        gtk_widget_set_size_request(widget, side, side)
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        decodeSize = PixelSize(width: Int(side), height: Int(side))
        nameChanged()
    }

    /// The name of the person, which is also the alternative text.
    public var name: String { didSet { if name != oldValue { nameChanged() } } }

    private func nameChanged() {
        alternativeText = name.isEmpty ? nil : name
        let initials = Self.initials(of: name)
        let label: WidgetPointer = initials.isEmpty ? Self.icon(side) : Self.label(initials, side)
        gtk_widget_add_css_class(label, "tintype-initials")
        // The same in each run of the program, which Swift's hash values aren't.
        let sum = name.unicodeScalars.reduce(UInt32(0)) { $0 &* 31 &+ $1.value }
        gtk_widget_add_css_class(label, "tintype-color-\(sum % 6)")
        placeholder = .widget(label)
    }

    private static func icon(_ side: Int32) -> WidgetPointer {
        let icon: WidgetPointer = gtk_image_new_from_icon_name("avatar-default-symbolic")
        gtk_image_set_pixel_size(OpaquePointer(icon), side / 2)
        return icon
    }

    private static func label(_ text: String, _ side: Int32) -> WidgetPointer {
        let label: WidgetPointer = gtk_label_new(text)
        let attributes = pango_attr_list_new()
        pango_attr_list_insert(attributes, pango_attr_size_new_absolute(side * 2 / 5 * PANGO_SCALE))
        pango_attr_list_insert(attributes, pango_attr_weight_new(PANGO_WEIGHT_BOLD))
        gtk_label_set_attributes(OpaquePointer(label), attributes)
        pango_attr_list_unref(attributes)
        return label
    }

    /// The first letters of the first and the last word of a name.
    static func initials(of name: String) -> String {
        let words = name.split(whereSeparator: \.isWhitespace)
        guard let first = words.first?.first else { return "" }
        let last = words.count > 1 ? words.last?.first : nil
        return (String(first) + (last.map { String($0) } ?? "")).uppercased()
    }

    // MARK: Style

    private static var hasStyle = false

    private static func addStyle(to widget: WidgetPointer) {
        guard !hasStyle, let provider = gtk_css_provider_new() else { return }
        hasStyle = true
        gtk_css_provider_load_from_data(provider, style, -1)
        // Below the style sheets of themes and programs.
        gtk_style_context_add_provider_for_display(
            gtk_widget_get_display(widget), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_FALLBACK))
        g_object_unref(UnsafeMutableRawPointer(provider))
    }

    // An outline is drawn above the image and the initials, and a border or a shadow below them.
    private static let style = """
        .tintype-avatar { border-radius: 9999px; outline: 1px solid alpha(currentColor, 0.3); outline-offset: -1px; }
        .tintype-initials { color: white; }
        .tintype-color-0 { background-color: #2a6fbb; }
        .tintype-color-1 { background-color: #26764b; }
        .tintype-color-2 { background-color: #9a5b00; }
        .tintype-color-3 { background-color: #b0343c; }
        .tintype-color-4 { background-color: #7d4698; }
        .tintype-color-5 { background-color: #6b5a4e; }
        """
}
#endif
