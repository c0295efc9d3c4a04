#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

/// One image at any size.
@MainActor final class ViewerPage {
    let widget: WidgetPointer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
    private let picture = TintypePicture()
    private let label: WidgetPointer = gtk_label_new("Fit")
    private var size = PixelSize.zero
    /// The magnification; `nil` to fit the window.
    private var zoom: Double?

    init() {
        let scrolled: WidgetPointer = gtk_scrolled_window_new()
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), picture.widget)
        gtk_widget_set_vexpand(scrolled, 1)
        let bar: WidgetPointer = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)
        gtk_widget_set_halign(bar, GTK_ALIGN_CENTER)
        let buttons = [
            Widgets.button(icon: "zoom-out-symbolic", label: "Smaller") { [weak self] in self?.scale(by: 0.8) },
            label,
            Widgets.button(icon: "zoom-in-symbolic", label: "Larger") { [weak self] in self?.scale(by: 1.25) },
            Widgets.button(icon: "zoom-original-symbolic", label: "Actual size") { [weak self] in self?.set(1) },
            Widgets.button(icon: "zoom-fit-best-symbolic", label: "Fit") { [weak self] in self?.set(nil) },
        ]
        for button in buttons { gtk_box_append(Widgets.box(bar), button) }
        gtk_box_append(Widgets.box(widget), scrolled)
        gtk_box_append(Widgets.box(widget), bar)
    }

    func open(_ url: URL) {
        set(nil)
        var request = ImageRequest(url, isProgressive: true)
        request.scalesDownLargeImages = true
        request.priority = .high
        picture.setImage(request, indicator: .progress) { [weak self] event in
            if case .finished(.success(let result)) = event { self?.size = result.image.size }
        }
    }

    func close() { picture.imageBinding.prepareForReuse() }

    private func scale(by factor: Double) {
        let fitted = min(
            Double(gtk_widget_get_width(picture.widget)) / Double(max(1, size.width)),
            Double(gtk_widget_get_height(picture.widget)) / Double(max(1, size.height)))
        set(min(16, max(0.05, (zoom ?? fitted) * factor)))
    }

    private func set(_ zoom: Double?) {
        self.zoom = zoom
        let (width, height) = zoom.map { (Double(size.width) * $0, Double(size.height) * $0) } ?? (-1, -1)
        gtk_widget_set_size_request(picture.widget, Int32(min(width, 32_000)), Int32(min(height, 32_000)))
        gtk_label_set_text(OpaquePointer(label), zoom.map { "\(Int(($0 * 100).rounded())) %" } ?? "Fit")
    }
}
#endif
