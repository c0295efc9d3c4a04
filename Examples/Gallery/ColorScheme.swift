#if GTK
import CGTK

/// Light or dark colors: those of the desktop, until the user chooses others.
@MainActor enum ColorScheme {
    private(set) static var isDark = false {
        didSet {
            var value = GValue()
            // G_TYPE_BOOLEAN, which is a macro.
            g_value_init(&value, GType(5 << 2))
            g_value_set_boolean(&value, isDark ? 1 : 0)
            guard let settings = gtk_settings_get_default() else { return }
            g_object_set_property(
                UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self),
                "gtk-application-prefer-dark-theme", &value)
        }
    }

    private static var isChosen = false

    /// Takes the colors that the user chose here.
    static func choose(isDark: Bool) { (isChosen, self.isDark) = (true, isDark) }

    /// Takes the colors of the desktop, also when they change, where it has GNOME's setting.
    static func followDesktop() {
        let name = "org.gnome.desktop.interface"
        guard let source = g_settings_schema_source_get_default(),
            let schema = g_settings_schema_source_lookup(source, name, 1)
        else { return }
        defer { g_settings_schema_unref(schema) }
        // The settings live as long as the program.
        guard g_settings_schema_has_key(schema, "color-scheme") != 0, let settings = g_settings_new(name) else { return }
        take(from: settings)
        Widgets.connect(UnsafeMutableRawPointer(settings), "changed::color-scheme") { take(from: settings) }
    }

    private static func take(from settings: UnsafeMutablePointer<GSettings>) {
        guard !isChosen, let scheme = g_settings_get_string(settings, "color-scheme") else { return }
        isDark = String(cString: scheme) == "prefer-dark"
        g_free(scheme)
    }
}
#endif
