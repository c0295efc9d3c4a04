#pragma once
#include <gtk/gtk.h>

/// Draws a paintable into a snapshot.
typedef void (*TintypeDraw)(gpointer context, GdkSnapshot *snapshot, double width, double height);

/// Creates a paintable that a function draws. The context is released with the paintable.
GdkPaintable *tintype_paintable_new(TintypeDraw draw, gpointer context, GDestroyNotify release);

/// Sets the intrinsic size of a paintable, 0 for none, and redraws its widgets.
void tintype_paintable_set_size(GdkPaintable *paintable, int width, int height);

/// Runs the main queue of libdispatch, and so Swift's main actor, on the default main context of GLib.
void tintype_attach_main_queue(void);
