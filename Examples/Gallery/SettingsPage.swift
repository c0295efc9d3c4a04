#if GTK
import CGTK
import Tintype
import TintypeGTK

/// The colors of the window, and the contents of the cache, with their limits, and buttons that remove them.
@MainActor final class SettingsPage {
    let widget: WidgetPointer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
    private let dark: WidgetPointer = gtk_check_button_new_with_label("Dark colors")
    private let memory: WidgetPointer = gtk_label_new(nil)
    private let disk: WidgetPointer = gtk_label_new(nil)
    private let cache = ImageCache.default
    private var limits = CacheLimits.saved()

    init() {
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        let check = self.check
        Widgets.connect(dark, "toggled") {
            let isDark = gtk_check_button_get_active(check) != 0
            if isDark != ColorScheme.isDark { ColorScheme.choose(isDark: isDark) }
        }
        let rows = [
            dark,
            memory,
            limit(\.memory, MemoryCache.default.configuration.capacity),
            Widgets.button(label: "Remove images from memory") { [weak self] in self?.removeAll(.memory) },
            disk,
            limit(\.disk, DiskCache.default.configuration.capacity),
            Widgets.button(label: "Remove images from disk") { [weak self] in self?.removeAll(.disk) },
        ]
        for row in rows { gtk_box_append(Widgets.box(widget), row) }
    }

    /// A number that the user can change: a limit in megabytes.
    private func limit(_ limit: WritableKeyPath<CacheLimits, Int?>, _ capacity: ByteCount) -> WidgetPointer {
        let row: WidgetPointer = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12)
        let number: WidgetPointer = gtk_spin_button_new_with_range(
            Double(CacheLimits.range.lowerBound), Double(CacheLimits.range.upperBound), 50)
        let pointer = OpaquePointer(number)
        gtk_spin_button_set_value(pointer, Double(capacity.bytes / 1_000_000))
        // The signal comes once the user has finished a number, not with each digit.
        Widgets.connect(number, "value-changed") { [weak self] in
            self?.change(limit, to: Int(gtk_spin_button_get_value_as_int(pointer)))
        }
        let label: WidgetPointer = gtk_label_new("Limit in MB")
        Widgets.setName(of: number, "Limit in MB")
        gtk_box_append(Widgets.box(row), label)
        gtk_box_append(Widgets.box(row), number)
        return row
    }

    private func change(_ limit: WritableKeyPath<CacheLimits, Int?>, to megabytes: Int) {
        limits[keyPath: limit] = megabytes
        limits.apply()
        do { try limits.save() } catch { return gtk_label_set_text(OpaquePointer(disk), "\(error)") }
        Task {
            do {
                try await cache.removeExpired()
                refresh()
            } catch {
                gtk_label_set_text(OpaquePointer(disk), "\(error)")
            }
        }
    }

    private var check: UnsafeMutablePointer<GtkCheckButton> {
        UnsafeMutableRawPointer(dark).assumingMemoryBound(to: GtkCheckButton.self)
    }

    func refresh() {
        gtk_check_button_set_active(check, ColorScheme.isDark ? 1 : 0)
        let used = cache.memory.statistics
        gtk_label_set_text(OpaquePointer(memory), "Memory: \(used.entries) images, \(ByteCount(used.bytes))")
        Task {
            let usage = await cache.usage(of: .disk)
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
