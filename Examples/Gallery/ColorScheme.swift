#if GTK
import CGTK

/// Light or dark colors: those of the desktop, until the user chooses others.
@MainActor enum ColorScheme {
    static var isDark = false {
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

    /// Takes the colors of the desktop, where it has GNOME's setting.
    static func followDesktop() {
        let name = "org.gnome.desktop.interface"
        guard let source = g_settings_schema_source_get_default(),
            let schema = g_settings_schema_source_lookup(source, name, 1)
        else { return }
        defer { g_settings_schema_unref(schema) }
        guard g_settings_schema_has_key(schema, "color-scheme") != 0, let settings = g_settings_new(name),
            let scheme = g_settings_get_string(settings, "color-scheme")
        else { return }
        isDark = String(cString: scheme) == "prefer-dark"
        g_free(scheme)
        g_object_unref(settings)
    }

}
#endif
