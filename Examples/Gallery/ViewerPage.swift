#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

/// One image at any size.
@MainActor final class ViewerPage {
    let widget: WidgetPointer = gtk_overlay_new()
    private let picture = TintypePicture()
    private let scrolled: WidgetPointer = gtk_scrolled_window_new()
    private let bar: WidgetPointer = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)
    private let label: WidgetPointer = gtk_label_new("Fit")
    private let reason: WidgetPointer = gtk_label_new(nil)
    private var zoomControls: [WidgetPointer] = []
    /// The size of the file's image, which may be larger than what was decoded of it.
    private var size = PixelSize.zero
    /// The magnification, in pixels of the screen for a pixel of the file; `nil` to fit the window.
    private var zoom: Double?
    /// The magnification at the beginning of a pinch.
    private var pinched = 1.0

    /// - Parameter step: goes to another image, by a number of places.
    init(step: @escaping @MainActor (Int) -> Void) {
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), picture.widget)
        gtk_overlay_set_child(OpaquePointer(widget), scrolled)
        gtk_overlay_add_overlay(OpaquePointer(widget), bar)
        gtk_widget_set_halign(bar, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(bar, GTK_ALIGN_END)
        gtk_widget_set_margin_bottom(bar, 12)
        for name in ["toolbar", "osd"] { gtk_widget_add_css_class(bar, name) }
        gtk_label_set_width_chars(OpaquePointer(label), 6)
        let buttons = [
            Widgets.button(icon: "go-previous-symbolic", label: "Previous image") { step(-1) },
            Widgets.button(icon: "zoom-out-symbolic", label: "Smaller") { [weak self] in self?.scale(by: 0.8) },
            label,
            Widgets.button(icon: "zoom-in-symbolic", label: "Larger") { [weak self] in self?.scale(by: 1.25) },
            Widgets.button(icon: "zoom-original-symbolic", label: "Actual size") { [weak self] in self?.set(1) },
            Widgets.button(icon: "zoom-fit-best-symbolic", label: "Fit to window") { [weak self] in self?.set(nil) },
            Widgets.button(icon: "go-next-symbolic", label: "Next image") { step(1) },
        ]
        for button in buttons { gtk_box_append(Widgets.box(bar), button) }
        zoomControls = Array(buttons.dropFirst().dropLast())
        let retry = Widgets.button(label: "Try Again") { [weak self] in self?.picture.imageBinding.retry() }
        let page = Widgets.statusPage(
            icon: "image-missing-symbolic", title: "This Image Can’t Be Shown", text: reason, button: retry)
        // Above the bar, in small windows too.
        gtk_widget_set_margin_bottom(page, 72)
        picture.failure = .widget(page)
        picture.onPhaseChange = { [weak self] _, phase in self?.show(phase) }
        connectGestures()
    }

    /// Zooms by Ctrl and the wheel, by a pinch, and by a double click, between the window's size and the actual one.
    private func connectGestures() {
        if let scroll = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL) {
            gtk_event_controller_set_propagation_phase(scroll, GTK_PHASE_CAPTURE)
            Widgets.connectPair(UnsafeMutableRawPointer(scroll), "scroll") { [weak self] _, distance in
                let modifiers = gtk_event_controller_get_current_event_state(scroll)
                guard modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0 else { return false }
                self?.scale(by: pow(1.1, -distance))
                return true
            }
            gtk_widget_add_controller(scrolled, scroll)
        }
        if let pinch = gtk_gesture_zoom_new() {
            Widgets.connect(UnsafeMutableRawPointer(pinch), "begin") { [weak self] in
                if let self { pinched = zoom ?? fittedZoom }
            }
            Widgets.connectScale(UnsafeMutableRawPointer(pinch), "scale-changed") { [weak self] factor in
                if let self { set(pinched * factor) }
            }
            gtk_widget_add_controller(scrolled, pinch)
        }
        Widgets.connectDoubleClicks(scrolled) { [weak self] in if let self { set(zoom == nil ? 1 : nil) } }
    }

    /// Shows an image, from the memory cache at once.
    /// - Returns: the load.
    @discardableResult func open(_ url: URL) -> DisplayLoad {
        set(nil)
        size = .zero
        picture.alternativeText = url.lastPathComponent
        var request = ImageRequest(url, isProgressive: true)
        request.scalesDownLargeImages = true
        request.decode.allowsPartialImage = true
        request.priority = .high
        return picture.setImage(request, indicator: .progress)
    }

    private func show(_ phase: DisplayPhase) {
        switch phase {
        case .image(let result): size = result.image.sourceSize ?? result.image.size
        case .failure(let error):
            gtk_label_set_text(
                OpaquePointer(reason), "\(error.reason.prefix(1).uppercased())\(error.reason.dropFirst()).")
        case .empty, .loading: break
        }
        // There is nothing to enlarge without an image.
        var isThere: gboolean = 1
        if case .failure = phase { isThere = 0 }
        for control in zoomControls { gtk_widget_set_sensitive(control, isThere) }
    }

    /// Waits for the end of the load.
    func waitForEnd() async { _ = await picture.imageBinding.load()?.result }

    func close() { picture.imageBinding.prepareForReuse() }

    // MARK: Zoom

    /// The magnification that fits the window.
    private var fittedZoom: Double {
        min(
            Double(gtk_widget_get_width(scrolled)) / Double(max(1, size.width)),
            Double(gtk_widget_get_height(scrolled)) / Double(max(1, size.height))) * picture.scaleFactor
    }

    func scale(by factor: Double) { set((zoom ?? fittedZoom) * factor) }

    /// - Parameter zoom: the pixels of the screen for a pixel of the file; `nil` to fit the window.
    func set(_ zoom: Double?) {
        guard zoom == nil || !size.isEmpty else { return }
        let zoom = zoom.map { min(16, max(0.05, $0)) }
        let adjustments = [
            gtk_scrolled_window_get_hadjustment(OpaquePointer(scrolled)),
            gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled)),
        ]
        // The middle stays where it is.
        let ratio = (zoom ?? fittedZoom) / (self.zoom ?? fittedZoom)
        for adjustment in adjustments where ratio.isFinite {
            let (value, page) = (gtk_adjustment_get_value(adjustment), gtk_adjustment_get_page_size(adjustment))
            let target = (value + page / 2) * ratio - page / 2
            gtk_adjustment_set_upper(adjustment, max(gtk_adjustment_get_upper(adjustment) * ratio, page))
            gtk_adjustment_set_value(adjustment, target)
        }
        self.zoom = zoom
        let (width, height) =
            zoom.map { (Double(size.width) * $0 / picture.scaleFactor, Double(size.height) * $0 / picture.scaleFactor) }
            ?? (-1, -1)
        gtk_widget_set_size_request(picture.widget, Int32(min(width, 32_000)), Int32(min(height, 32_000)))
        gtk_label_set_text(OpaquePointer(label), zoom.map { "\(Int(($0 * 100).rounded())) %" } ?? "Fit")
    }
}
#endif
