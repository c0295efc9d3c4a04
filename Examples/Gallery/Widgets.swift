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

    private final class Action: Sendable {
        let call: @MainActor (UInt) -> Void
        init(_ call: @escaping @MainActor (UInt) -> Void) { self.call = call }
    }
}
#endif
