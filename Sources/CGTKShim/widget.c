// Functions of GTK that take variable arguments.
#ifdef TINTYPE_GTK
#include "CGTKShim.h"

void tintype_set_accessible_label(GtkWidget *widget, const char *label) {
    if (label) gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    else gtk_accessible_reset_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL);
}

void tintype_set_busy(GtkWidget *widget, gboolean isBusy) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_BUSY, isBusy, -1);
}

gboolean tintype_reduces_motion(GtkWidget *widget) {
    gboolean isEnabled = TRUE;
    g_object_get(gtk_widget_get_settings(widget), "gtk-enable-animations", &isEnabled, NULL);
    return !isEnabled;
}

double tintype_scale(GtkWidget *widget) {
    double scale = gtk_widget_get_scale_factor(widget);
    GtkNative *native = gtk_widget_get_native(widget);
    GdkSurface *surface = native ? gtk_native_get_surface(native) : NULL;
    // The factor of GTK before 4.12 is the next whole number.
    if (surface && g_object_class_find_property(G_OBJECT_GET_CLASS(surface), "scale"))
        g_object_get(surface, "scale", &scale, NULL);
    return scale;
}
#endif
