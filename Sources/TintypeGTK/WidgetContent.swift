#if GTK
internal import CGTK
internal import TintypeDisplay

/// Content that a widget shows over its area in place of an image.
///
/// The widget retains its content. Icons and paintables are centered, at their own size.
public enum WidgetContent {
    /// An icon of the theme, by name, in the color of text.
    case icon(String)
    /// A `GdkPaintable`.
    case paintable(OpaquePointer)
    /// A widget without a parent. It covers the area, or is placed in it according to its alignment.
    case widget(WidgetPointer)
    /// A button that loads the image again. Its tooltip is the reason for the failure.
    case retryButton(icon: String = "view-refresh-symbolic")
}

/// A widget that is shown above a picture at times.
@MainActor final class StandIn {
    let content: WidgetContent
    private let picture: WidgetPointer
    private let onRetry: @MainActor () -> Void
    /// The widget, if there was a need for it. Retained.
    private var made: WidgetPointer?
    private var isShown = false

    /// - Parameters:
    ///   - picture: a `GtkPicture` that a paintable is shown in, and that outlives the object or hides it.
    ///   - onRetry: what a retry button does.
    init(_ content: WidgetContent, in picture: WidgetPointer, onRetry: @escaping @MainActor () -> Void) {
        self.content = content
        self.picture = picture
        self.onRetry = onRetry
        // An icon and a button take a widget when they are shown.
        switch content {
        case .widget, .paintable: _ = widget
        case .icon, .retryButton: break
        }
    }

    isolated deinit {
        hide()
        if let made { g_object_unref(UnsafeMutableRawPointer(made)) }
    }

    var widget: WidgetPointer? {
        if made == nil { made = makeWidget() }
        return made
    }

    private func makeWidget() -> WidgetPointer? {
        let widget: WidgetPointer?
        switch content {
        case .widget(let own): widget = own
        case .paintable(let paintable): widget = gtk_picture_new_for_paintable(paintable)
        case .icon(let name):
            widget = gtk_image_new_from_icon_name(name)
            gtk_image_set_icon_size(widget.map { OpaquePointer($0) }, GTK_ICON_SIZE_LARGE)
            gtk_widget_add_css_class(widget, "dim-label")
        case .retryButton(let icon):
            widget = gtk_button_new_from_icon_name(icon)
            for name in ["circular", "flat"] { gtk_widget_add_css_class(widget, name) }
            if let widget { GObjects.connect(widget, "clicked") { [weak self] in self?.onRetry() } }
        }
        guard let widget else { return nil }
        g_object_ref_sink(UnsafeMutableRawPointer(widget))
        if case .widget = content {
        } else {
            gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        }
        return widget
    }

    /// - Parameter reason: the reason of a failure, for a retry button.
    func show(reason: String?) {
        guard let widget else { return }
        if case .retryButton = content { gtk_widget_set_tooltip_text(widget, reason) }
        guard !isShown, gtk_widget_get_parent(widget) == nil else { return }
        isShown = true
        gtk_widget_set_parent(widget, picture)
    }

    func hide() {
        guard isShown, let widget else { return }
        isShown = false
        gtk_widget_unparent(widget)
    }
}

/// An indicator that is a widget of the program: a `GtkSpinner` spins, and a `GtkProgressBar` fills.
@MainActor final class WidgetIndicator: ImageIndicator {
    private let standIn: StandIn

    init(_ standIn: StandIn) { self.standIn = standIn }

    private func pointer(of type: GType) -> OpaquePointer? {
        guard let widget = standIn.widget, GObjects.isA(widget, type) else { return nil }
        return OpaquePointer(widget)
    }

    func start() {
        if let bar = pointer(of: gtk_progress_bar_get_type()) { gtk_progress_bar_set_fraction(bar, 0) }
        if let spinner = pointer(of: gtk_spinner_get_type()) { gtk_spinner_start(spinner) }
        standIn.show(reason: nil)
    }

    func update(fraction: Double?) {
        guard let fraction, let bar = pointer(of: gtk_progress_bar_get_type()) else { return }
        gtk_progress_bar_set_fraction(bar, fraction)
    }

    func stop() {
        standIn.hide()
        if let spinner = pointer(of: gtk_spinner_get_type()) { gtk_spinner_stop(spinner) }
    }
}
#endif
