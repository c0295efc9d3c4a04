// GObject classes can be declared in C only.
#ifdef TINTYPE_GTK
#include "CGTKShim.h"

typedef struct {
    GObject parent;
    TintypeDraw draw;
    gpointer context;
    GDestroyNotify release;
    int width, height;
} TintypePaintable;

typedef struct { GObjectClass parent; } TintypePaintableClass;

static void paintable_init(GdkPaintableInterface *interface);

GType tintype_paintable_get_type(void);
G_DEFINE_TYPE_WITH_CODE(TintypePaintable, tintype_paintable, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_init))

static void snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    TintypePaintable *self = (TintypePaintable *)paintable;
    self->draw(self->context, snapshot, width, height);
}

static int intrinsic_width(GdkPaintable *paintable) { return ((TintypePaintable *)paintable)->width; }
static int intrinsic_height(GdkPaintable *paintable) { return ((TintypePaintable *)paintable)->height; }

static void paintable_init(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_intrinsic_width = intrinsic_width;
    interface->get_intrinsic_height = intrinsic_height;
}

static void finalize(GObject *object) {
    TintypePaintable *self = (TintypePaintable *)object;
    if (self->release) self->release(self->context);
    G_OBJECT_CLASS(tintype_paintable_parent_class)->finalize(object);
}

static void tintype_paintable_class_init(TintypePaintableClass *class) {
    G_OBJECT_CLASS(class)->finalize = finalize;
}

static void tintype_paintable_init(TintypePaintable *self) { (void)self; }

GdkPaintable *tintype_paintable_new(TintypeDraw draw, gpointer context, GDestroyNotify release) {
    TintypePaintable *self = g_object_new(tintype_paintable_get_type(), NULL);
    self->draw = draw;
    self->context = context;
    self->release = release;
    return GDK_PAINTABLE(self);
}

void tintype_paintable_set_size(GdkPaintable *paintable, int width, int height) {
    TintypePaintable *self = (TintypePaintable *)paintable;
    if (self->width != width || self->height != height) {
        self->width = width;
        self->height = height;
        gdk_paintable_invalidate_size(paintable);
    }
    gdk_paintable_invalidate_contents(paintable);
}
#endif
