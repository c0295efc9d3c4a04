#pragma once
#include <gtk/gtk.h>

/// Draws a paintable into a snapshot, with its images placed in the area as the picture places them.
/// - Parameter fit: a `GtkContentFit`.
typedef void (*TintypeDraw)(gpointer context, GdkSnapshot *snapshot, double width, double height, int fit);

/// Creates a paintable that a function draws. The context is released with the paintable.
GdkPaintable *tintype_paintable_new(TintypeDraw draw, gpointer context, GDestroyNotify release);

/// Sets the intrinsic size of a paintable, 0 for none, and redraws its widgets.
void tintype_paintable_set_size(GdkPaintable *paintable, double width, double height);

/// Shows a paintable in the whole area of a picture, with the children of the picture above it. The children cover the picture, and count in its size.
/// - Parameter isMeasured: false if the size of the paintable doesn't count.
void tintype_paintable_show_in(GdkPaintable *paintable, GtkPicture *picture, gboolean isMeasured);

/// Sets the name of a widget for assistive technology; NULL for that of its kind.
void tintype_set_accessible_label(GtkWidget *widget, const char *label);

/// Tells assistive technology if a widget is loading.
void tintype_set_busy(GtkWidget *widget, gboolean isBusy);

/// Runs the main queue of libdispatch, and so Swift's main actor, on the default main context of GLib.
void tintype_attach_main_queue(void);

/// Returns true if the user asked the desktop for reduced motion.
gboolean tintype_reduces_motion(GtkWidget *widget);

/// Returns the number of device pixels per application pixel, which GTK 4.12 and later know exactly.
double tintype_scale(GtkWidget *widget);
