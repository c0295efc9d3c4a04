#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

/// A window with a grid of thumbnails, and a page for a picture.
@MainActor final class Browser {
    // snippet: browser-parts
    let window: WidgetPointer = gtk_window_new()
    let viewer = TintypePicture()
    private let stack: WidgetPointer = gtk_stack_new()
    private let urls: [URL]
    private let prefetcher = ImagePrefetcher(manager: .shared)
    private let factory: TintypeItemFactory
    // snippet.end

    init(_ urls: [URL]) {
        self.urls = urls
        // snippet: browser-grid
        factory = TintypeItemFactory { picture in
            picture.decodeSize = PixelSize(width: 160, height: 160)
            gtk_widget_set_size_request(picture.widget, 160, 160)
            return picture.widget
        } bind: { picture, _, position in
            picture.setImage(urls[position], transition: .crossDissolve(0.2), indicator: .spinner)
        }
        let items = gtk_string_list_new(nil)
        for url in urls { gtk_string_list_append(items, url.lastPathComponent) }
        let grid: WidgetPointer = gtk_grid_view_new(gtk_no_selection_new(items), factory.retainedPointer())
        // snippet.end
        gtk_grid_view_set_single_click_activate(OpaquePointer(grid), 1)
        // snippet: browser-viewer
        viewer.decodeSize = PixelSize(width: 1_000, height: 700)
        // snippet.end
        let scrolled: WidgetPointer = gtk_scrolled_window_new()
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), grid)
        gtk_stack_add_named(OpaquePointer(stack), scrolled, "grid")
        gtk_stack_add_named(OpaquePointer(stack), viewer.widget, "viewer")
        let header: WidgetPointer = gtk_header_bar_new()
        let back: WidgetPointer = gtk_button_new_from_icon_name("go-previous-symbolic")
        gtk_header_bar_pack_start(OpaquePointer(header), back)
        let frame = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(frame, 1_000, 700)
        gtk_window_set_titlebar(frame, header)
        gtk_window_set_child(frame, stack)
        connectSignals(of: grid, back: back)
        gtk_window_present(frame)
    }

    // snippet: browser-open
    func open(_ position: Int) {
        guard urls.indices.contains(position) else { return }
        viewer.setImage(urls[position], display: .keepCurrentImage, indicator: .progress)
        gtk_stack_set_visible_child_name(OpaquePointer(stack), "viewer")
        // The neighbors are prefetched as the viewer will ask for them: at its size.
        let neighbors = [position + 1, position - 1].filter(urls.indices.contains)
        prefetcher.cancelAll()
        prefetcher.prefetch(neighbors.map { viewer.adapted(ImageRequest(urls[$0]), for: .image) })
    }
    // snippet.end

    private func showGrid() { gtk_stack_set_visible_child_name(OpaquePointer(stack), "grid") }

    private func connectSignals(of grid: WidgetPointer, back: WidgetPointer) {
        let activate: @convention(c) (gpointer?, UInt32, gpointer?) -> Void = { _, position, data in
            guard let data else { return }
            let browser = Unmanaged<Browser>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { browser.open(Int(position)) }
        }
        let click: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            guard let data else { return }
            let browser = Unmanaged<Browser>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { browser.showGrid() }
        }
        // The browser lives as long as the program.
        let browser = Unmanaged.passUnretained(self).toOpaque()
        let flags = GConnectFlags(rawValue: 0)
        g_signal_connect_data(grid, "activate", unsafeBitCast(activate, to: GCallback.self), browser, nil, flags)
        g_signal_connect_data(back, "clicked", unsafeBitCast(click, to: GCallback.self), browser, nil, flags)
    }
}
#endif
