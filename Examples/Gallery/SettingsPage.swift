#if GTK
import CGTK
import Tintype
import TintypeGTK

/// The contents of the cache, with buttons that remove them.
@MainActor final class SettingsPage {
    let widget: WidgetPointer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
    private let memory: WidgetPointer = gtk_label_new(nil)
    private let disk: WidgetPointer = gtk_label_new(nil)
    private let cache = ImageCache.default

    init() {
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        let rows = [
            memory, Widgets.button(label: "Remove images from memory") { [weak self] in self?.removeAll(.memory) },
            disk, Widgets.button(label: "Remove images from disk") { [weak self] in self?.removeAll(.disk) },
        ]
        for row in rows { gtk_box_append(Widgets.box(widget), row) }
    }

    func refresh() {
        let used = cache.memory.statistics
        gtk_label_set_text(OpaquePointer(memory), "Memory: \(used.entries) images, \(ByteCount(used.bytes))")
        Task {
            let usage = await cache.disk.usage()
            gtk_label_set_text(OpaquePointer(disk), "Disk: \(usage.entries) images, \(ByteCount(usage.bytes))")
        }
    }

    private func removeAll(_ layers: CacheLayers) {
        Task {
            do {
                try await cache.removeAll(from: layers)
                refresh()
            } catch {
                gtk_label_set_text(OpaquePointer(disk), "\(error)")
            }
        }
    }
}
#endif
