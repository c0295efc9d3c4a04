#if GTK
import CGTK
import Tintype
import TintypeGTK

/// The menu of the window, and what it says about the program.
@MainActor enum PrimaryMenu {
    /// Makes the button that opens the menu, as F10 does.
    static func button(_ entries: [(label: String, action: @MainActor () -> Void)]) -> WidgetPointer {
        let button: WidgetPointer = gtk_menu_button_new()
        gtk_menu_button_set_icon_name(OpaquePointer(button), "open-menu-symbolic")
        gtk_menu_button_set_primary(OpaquePointer(button), 1)
        gtk_widget_set_tooltip_text(button, "Main menu (F10)")
        Widgets.setName(of: button, "Main menu")
        guard let menu = g_menu_new(), let actions = g_simple_action_group_new() else { return button }
        for (number, entry) in entries.enumerated() {
            guard let action = g_simple_action_new("entry\(number)", nil) else { continue }
            Widgets.connect(UnsafeMutableRawPointer(action), "activate", entry.action)
            g_action_map_add_action(OpaquePointer(actions), action)
            g_object_unref(UnsafeMutableRawPointer(action))
            g_menu_append(menu, entry.label, "menu.entry\(number)")
        }
        let model = UnsafeMutableRawPointer(menu)
        gtk_menu_button_set_menu_model(OpaquePointer(button), model.assumingMemoryBound(to: GMenuModel.self))
        gtk_widget_insert_action_group(button, "menu", OpaquePointer(actions))
        g_object_unref(model)
        g_object_unref(UnsafeMutableRawPointer(actions))
        return button
    }

    static func showAbout(over window: UnsafeMutablePointer<GtkWindow>) {
        let widget: WidgetPointer = gtk_about_dialog_new()
        let dialog = OpaquePointer(widget)
        gtk_about_dialog_set_program_name(dialog, "Gallery")
        gtk_about_dialog_set_comments(dialog, "Images of all kinds, with Tintype.")
        gtk_about_dialog_set_logo_icon_name(dialog, "folder-pictures-symbolic")
        gtk_window_set_transient_for(Widgets.window(widget), window)
        gtk_window_set_modal(Widgets.window(widget), 1)
        gtk_window_present(Widgets.window(widget))
    }
}
#endif
