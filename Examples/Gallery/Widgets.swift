#if GTK
import CGTK
import TintypeGTK

/// Casts and signals of GTK, which are macros in C.
@MainActor enum Widgets {
    static func window(_ widget: WidgetPointer) -> UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
    }

    static func box(_ widget: WidgetPointer) -> UnsafeMutablePointer<GtkBox> {
        UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkBox.self)
    }

    /// Makes a button that calls a closure.
    static func button(icon: String? = nil, label: String, _ action: @escaping @MainActor () -> Void) -> WidgetPointer {
        let button: WidgetPointer = icon == nil ? gtk_button_new_with_label(label) : gtk_button_new_from_icon_name(icon)
        gtk_widget_set_tooltip_text(button, label)
        connect(button, "clicked") { _ in action() }
        return button
    }

    /// Calls a closure with the number that a signal has, such as the position of an item.
    static func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor (UInt) -> Void
    ) {
        let function: @convention(c) (gpointer?, UInt, gpointer?) -> Void = { _, number, data in
            guard let data else { return }
            let action = Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { action.call(number) }
        }
        let plain: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            guard let data else { return }
            let action = Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { action.call(0) }
        }
        let callback =
            signal == "activate"
            ? unsafeBitCast(function, to: GCallback.self) : unsafeBitCast(plain, to: GCallback.self)
        g_signal_connect_data(
            object, signal, callback, Unmanaged.passRetained(Action(action)).toOpaque(),
            { data, _ in if let data { Unmanaged<Action>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
    }

    /// Shows the texts of the widgets inside a widget as tooltips.
    static func setTooltips(of widget: WidgetPointer, _ text: @escaping @MainActor (WidgetPointer) -> String?) {
        let function: @convention(c) (gpointer?, Int32, Int32, gboolean, OpaquePointer?, gpointer?) -> gboolean = {
            widget, x, y, _, tooltip, data in
            guard let data, let widget = widget?.assumingMemoryBound(to: GtkWidget.self) else { return 0 }
            let tooltips = Unmanaged<Tooltips>.fromOpaque(data).takeUnretainedValue()
            // Sendable: signals of widgets are emitted on the first thread, which is the main actor's.
            nonisolated(unsafe) let (area, bubble) = (widget, tooltip)
            return MainActor.assumeIsolated {
                guard let picked = gtk_widget_pick(area, Double(x), Double(y), GTK_PICK_DEFAULT),
                    let text = tooltips.text(picked)
                else { return 0 }
                gtk_tooltip_set_text(bubble, text)
                return 1
            }
        }
        gtk_widget_set_has_tooltip(widget, 1)
        g_signal_connect_data(
            widget, "query-tooltip", unsafeBitCast(function, to: GCallback.self),
            Unmanaged.passRetained(Tooltips(text)).toOpaque(),
            { data, _ in if let data { Unmanaged<Tooltips>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
    }

    private final class Tooltips: Sendable {
        let text: @MainActor (WidgetPointer) -> String?
        init(_ text: @escaping @MainActor (WidgetPointer) -> String?) { self.text = text }
    }

    private final class Action: Sendable {
        let call: @MainActor (UInt) -> Void
        init(_ call: @escaping @MainActor (UInt) -> Void) { self.call = call }
    }
}
#endif
