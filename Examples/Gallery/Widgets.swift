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

    /// Makes a button that calls a closure. Its label is also its name for screen readers.
    static func button(icon: String? = nil, label: String, _ action: @escaping @MainActor () -> Void) -> WidgetPointer {
        let button: WidgetPointer = icon == nil ? gtk_button_new_with_label(label) : gtk_button_new_from_icon_name(icon)
        if icon != nil {
            gtk_widget_set_tooltip_text(button, label)
            setName(of: button, label)
        }
        connect(button, "clicked") { action() }
        return button
    }

    /// Makes a page with an icon, a title, a text, and a button, as for a list without items.
    static func statusPage(
        icon: String, title: String, text: WidgetPointer, button: WidgetPointer
    ) -> WidgetPointer {
        let page: WidgetPointer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        let (image, heading): (WidgetPointer, WidgetPointer) = (gtk_image_new_from_icon_name(icon), gtk_label_new(title))
        gtk_image_set_pixel_size(OpaquePointer(image), 96)
        gtk_widget_add_css_class(image, "dim-label")
        gtk_widget_add_css_class(heading, "title-1")
        gtk_label_set_wrap(OpaquePointer(text), 1)
        gtk_label_set_justify(OpaquePointer(text), GTK_JUSTIFY_CENTER)
        gtk_label_set_max_width_chars(OpaquePointer(text), 60)
        gtk_widget_set_halign(button, GTK_ALIGN_CENTER)
        for child in [image, heading, text, button] { gtk_box_append(box(page), child) }
        for set in [gtk_widget_set_halign, gtk_widget_set_valign] { set(page, GTK_ALIGN_CENTER) }
        return page
    }

    /// Sets the name of a widget for screen readers.
    static func setName(of widget: WidgetPointer, _ name: String) {
        var (property, value) = (GTK_ACCESSIBLE_PROPERTY_LABEL, GValue())
        gtk_accessible_property_init_value(property, &value)
        g_value_set_string(&value, name)
        gtk_accessible_update_property_value(OpaquePointer(widget), 1, &property, &value)
        g_value_unset(&value)
    }

    // MARK: Signals

    /// Calls a closure with each emission of a signal that has no arguments, or whose arguments don't matter.
    static func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor () -> Void
    ) {
        // Swapped: the action comes first, and whatever arguments the signal has after it.
        let function: @convention(c) (gpointer?) -> Void = { data in Action.run(data) { $0.call(0, 0) } }
        connect(object, signal, unsafeBitCast(function, to: GCallback.self), Action { _, _ in
                action()
                return false
            }, G_CONNECT_SWAPPED)
    }

    /// Calls a closure with each double click in a widget.
    static func connectDoubleClicks(_ widget: WidgetPointer, _ action: @escaping @MainActor () -> Void) {
        guard let click = gtk_gesture_click_new() else { return }
        let function: @convention(c) (gpointer?, Int32, Double, Double, gpointer?) -> Void = { _, count, _, _, data in
            if count == 2 { Action.run(data) { $0.call(0, 0) } }
        }
        connect(UnsafeMutableRawPointer(click), "pressed", unsafeBitCast(function, to: GCallback.self), Action { _, _ in
                action()
                return false
            })
        gtk_widget_add_controller(widget, click)
    }

    /// Calls a closure with the number that a signal has, such as the position of an item.
    static func connectNumber(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor (UInt32) -> Void
    ) {
        let function: @convention(c) (gpointer?, UInt32, gpointer?) -> Void = { _, number, data in
            Action.run(data) { $0.call(Double(number), 0) }
        }
        connect(object, signal, unsafeBitCast(function, to: GCallback.self), Action { number, _ in
                action(UInt32(number))
                return false
            })
    }

    /// Calls a closure with the number of a signal of a gesture, such as the scale of a pinch.
    static func connectScale(_ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor (Double) -> Void) {
        let function: @convention(c) (gpointer?, Double, gpointer?) -> Void = { _, number, data in
            Action.run(data) { $0.call(number, 0) }
        }
        connect(object, signal, unsafeBitCast(function, to: GCallback.self), Action { number, _ in
                action(number)
                return false
            })
    }

    /// Calls a closure with the two numbers of a signal, such as the distances of a scroll. The signal is handled if it returns true.
    static func connectPair(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor (Double, Double) -> Bool
    ) {
        let function: @convention(c) (gpointer?, Double, Double, gpointer?) -> gboolean = { _, first, second, data in
            Action.run(data) { $0.call(first, second) }
        }
        let handler = Action(action)
        connect(object, signal, unsafeBitCast(function, to: GCallback.self), handler)
    }

    /// Calls a closure with each key that is pressed in a window, before the widgets in it. The key is handled if it returns true.
    static func connectKeys(
        _ window: WidgetPointer, _ action: @escaping @MainActor (_ key: Int32, _ modifiers: GdkModifierType) -> Bool
    ) {
        let function: @convention(c) (gpointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean = {
            _, key, _, modifiers, data in
            Action.run(data) { $0.call(Double(key), Double(modifiers.rawValue)) }
        }
        let controller = gtk_event_controller_key_new()
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        connect(
            UnsafeMutableRawPointer(controller!), "key-pressed", unsafeBitCast(function, to: GCallback.self),
            Action { action(Int32($0), GdkModifierType(UInt32($1))) })
        gtk_widget_add_controller(window, controller)
    }

    /// Calls a closure with the paths of files that are dropped on a widget.
    static func connectDrops(_ widget: WidgetPointer, _ action: @escaping @MainActor ([String]) -> Void) {
        let function: @convention(c) (gpointer?, UnsafePointer<GValue>?, Double, Double, gpointer?) -> gboolean = {
            _, value, _, _, data in
            var paths: [String] = []
            var list = value.flatMap { g_value_get_boxed($0) }?.assumingMemoryBound(to: GSList.self)
            while let item = list {
                if let path = item.pointee.data.flatMap({ g_file_get_path(OpaquePointer($0)) }) {
                    paths.append(String(cString: path))
                    g_free(path)
                }
                list = item.pointee.next
            }
            guard let data, !paths.isEmpty else { return 0 }
            let handler = Unmanaged<DropAction>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { handler.call(paths) }
            return 1
        }
        guard let target = gtk_drop_target_new(gdk_file_list_get_type(), GDK_ACTION_COPY) else { return }
        g_signal_connect_data(
            UnsafeMutableRawPointer(target), "drop", unsafeBitCast(function, to: GCallback.self),
            Unmanaged.passRetained(DropAction(action)).toOpaque(),
            { data, _ in if let data { Unmanaged<DropAction>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
        gtk_widget_add_controller(widget, target)
    }

    private static func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ function: GCallback, _ action: Action,
        _ flags: GConnectFlags = GConnectFlags(rawValue: 0)
    ) {
        g_signal_connect_data(
            object, signal, function, Unmanaged.passRetained(action).toOpaque(),
            { data, _ in if let data { Unmanaged<Action>.fromOpaque(data).release() } }, flags)
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
                var picked = gtk_widget_pick(area, Double(x), Double(y), GTK_PICK_DEFAULT)
                while let widget = picked, widget != area {
                    if let text = tooltips.text(widget) {
                        gtk_tooltip_set_text(bubble, text)
                        return 1
                    }
                    picked = gtk_widget_get_parent(widget)
                }
                return 0
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

    private final class DropAction: Sendable {
        let call: @MainActor ([String]) -> Void
        init(_ call: @escaping @MainActor ([String]) -> Void) { self.call = call }
    }

    private final class Action: Sendable {
        let call: @MainActor (Double, Double) -> Bool

        init(_ call: @escaping @MainActor (Double, Double) -> Bool) { self.call = call }

        @discardableResult
        static func run(_ data: gpointer?, _ body: @MainActor (Action) -> Bool) -> gboolean {
            guard let data else { return 0 }
            let action = Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
            return MainActor.assumeIsolated { body(action) } ? 1 : 0
        }
    }
}
#endif
