#if GTK
import CGTK
import TintypeGTK

/// The window that lists the keys.
@MainActor enum Shortcuts {
    /// The keys in the notation of GTK, with what they do.
    private static let keys = [
        ("F1 &lt;Control&gt;question", "Keyboard shortcuts"), ("&lt;Control&gt;o", "Open a folder"), ("F11", "Full screen"),
        ("Left Right", "Previous and next image"), ("Escape &lt;Alt&gt;Left", "All images"),
        ("plus minus", "Larger and smaller"), ("1 0", "Actual size and fit to window"), ("&lt;Control&gt;q", "Quit"),
    ]

    static func show(over window: UnsafeMutablePointer<GtkWindow>) {
        let rows = keys.map { keys, title in
            """
            <child><object class="GtkShortcutsShortcut">
            <property name="accelerator">\(keys)</property><property name="title">\(title)</property></object></child>
            """
        }
        let description = """
            <interface><object class="GtkShortcutsWindow" id="window"><property name="modal">1</property>
            <child><object class="GtkShortcutsSection"><property name="section-name">keys</property><child><object class="GtkShortcutsGroup">
            \(rows.joined())</object></child></object></child></object></interface>
            """
        guard let builder = gtk_builder_new_from_string(description, -1) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(builder)) }
        guard let object = gtk_builder_get_object(builder, "window") else { return }
        // GTK keeps the window until it is closed.
        let shortcuts = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_transient_for(shortcuts, window)
        gtk_window_present(shortcuts)
    }
}
#endif
