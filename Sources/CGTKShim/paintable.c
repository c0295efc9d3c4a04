// GObject classes and layout managers can be declared in C only.
#ifdef TINTYPE_GTK
#include "CGTKShim.h"

typedef struct {
    GObject parent;
    TintypeDraw draw;
    gpointer context;
    GDestroyNotify release;
    double width, height;
    // The picture that shows the paintable, as long as it exists; NULL for other widgets.
    GtkWidget *picture;
    gboolean isMeasured, isMeasuring;
} TintypePaintable;

typedef struct { GObjectClass parent; } TintypePaintableClass;

static void paintable_init(GdkPaintableInterface *interface);

GType tintype_paintable_get_type(void);
G_DEFINE_TYPE_WITH_CODE(TintypePaintable, tintype_paintable, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_init))

static void snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    TintypePaintable *self = (TintypePaintable *)paintable;
    GtkContentFit fit = self->picture ? gtk_picture_get_content_fit(GTK_PICTURE(self->picture)) : GTK_CONTENT_FIT_CONTAIN;
    self->draw(self->context, snapshot, width, height, fit);
    // GtkPicture draws no children. Where the paintable is drawn for somebody else, they don't belong to it.
    if (!self->picture || width != gtk_widget_get_width(self->picture) || height != gtk_widget_get_height(self->picture))
        return;
    for (GtkWidget *child = gtk_widget_get_first_child(self->picture); child; child = gtk_widget_get_next_sibling(child))
        gtk_widget_snapshot_child(self->picture, child, GTK_SNAPSHOT(snapshot));
}

static int intrinsic_width(GdkPaintable *paintable) { return (int)(((TintypePaintable *)paintable)->width + 0.5); }
static int intrinsic_height(GdkPaintable *paintable) { return (int)(((TintypePaintable *)paintable)->height + 0.5); }

static double aspect_ratio(GdkPaintable *paintable) {
    TintypePaintable *self = (TintypePaintable *)paintable;
    // Without proportions, a picture leaves the whole of its area to the paintable, which places the old and the new image in it.
    if (self->picture && !self->isMeasuring) return 0;
    return self->height > 0 ? self->width / self->height : 0;
}

static void paintable_init(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_intrinsic_width = intrinsic_width;
    interface->get_intrinsic_height = intrinsic_height;
    interface->get_intrinsic_aspect_ratio = aspect_ratio;
}

static void forget_picture(TintypePaintable *self) {
    if (self->picture) g_object_remove_weak_pointer(G_OBJECT(self->picture), (gpointer *)&self->picture);
    self->picture = NULL;
}

static void finalize(GObject *object) {
    TintypePaintable *self = (TintypePaintable *)object;
    forget_picture(self);
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

void tintype_paintable_set_size(GdkPaintable *paintable, double width, double height) {
    TintypePaintable *self = (TintypePaintable *)paintable;
    if (self->width != width || self->height != height) {
        self->width = width;
        self->height = height;
        gdk_paintable_invalidate_size(paintable);
    }
    gdk_paintable_invalidate_contents(paintable);
}

// The layout of a picture with children, which cover it.

static GtkSizeRequestMode request_mode(GtkWidget *picture) {
    return GTK_WIDGET_GET_CLASS(picture)->get_request_mode(picture);
}

static void measure(GtkWidget *picture, GtkOrientation orientation, int size, int *minimum, int *natural,
                    int *minimumBaseline, int *naturalBaseline) {
    GdkPaintable *paintable = gtk_picture_get_paintable(GTK_PICTURE(picture));
    TintypePaintable *self = paintable && G_TYPE_CHECK_INSTANCE_TYPE(paintable, tintype_paintable_get_type())
        ? (TintypePaintable *)paintable : NULL;
    if (!self || self->isMeasured) {
        if (self) self->isMeasuring = TRUE;
        GTK_WIDGET_GET_CLASS(picture)
            ->measure(picture, orientation, size, minimum, natural, minimumBaseline, naturalBaseline);
        if (self) self->isMeasuring = FALSE;
    }
    for (GtkWidget *child = gtk_widget_get_first_child(picture); child; child = gtk_widget_get_next_sibling(child)) {
        if (!gtk_widget_should_layout(child)) continue;
        int childMinimum = 0, childNatural = 0;
        gtk_widget_measure(child, orientation, size, &childMinimum, &childNatural, NULL, NULL);
        *minimum = MAX(*minimum, childMinimum);
        *natural = MAX(*natural, childNatural);
    }
    *natural = MAX(*natural, *minimum);
}

static void allocate(GtkWidget *picture, int width, int height, int baseline) {
    (void)baseline;
    for (GtkWidget *child = gtk_widget_get_first_child(picture); child; child = gtk_widget_get_next_sibling(child))
        if (gtk_widget_should_layout(child)) gtk_widget_allocate(child, width, height, -1, NULL);
}

void tintype_paintable_show_in(GdkPaintable *paintable, GtkPicture *picture, gboolean isMeasured) {
    TintypePaintable *self = (TintypePaintable *)paintable;
    forget_picture(self);
    self->picture = GTK_WIDGET(picture);
    g_object_add_weak_pointer(G_OBJECT(picture), (gpointer *)&self->picture);
    self->isMeasured = isMeasured;
    gtk_widget_set_layout_manager(GTK_WIDGET(picture), gtk_custom_layout_new(request_mode, measure, allocate));
    gtk_picture_set_paintable(picture, paintable);
}
#endif
