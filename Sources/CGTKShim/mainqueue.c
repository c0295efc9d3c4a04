// A source for the main queue of libdispatch, whose layout GLib prescribes in C. CoreFoundation runs the queue in the same way.
#ifdef TINTYPE_GTK
#include "CGTKShim.h"
#include <glib-unix.h>
#include <unistd.h>

extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

typedef struct {
    GSource source;
    gpointer tag;
} MainQueueSource;

static gboolean prepare(GSource *source, gint *timeout) {
    (void)source;
    *timeout = -1;
    return FALSE;
}

static gboolean check(GSource *source) {
    return (g_source_query_unix_fd(source, ((MainQueueSource *)source)->tag) & G_IO_IN) != 0;
}

static gboolean dispatch(GSource *source, GSourceFunc function, gpointer data) {
    (void)source, (void)function, (void)data;
    // The callback doesn't reset the event.
    guint64 count;
    if (read(_dispatch_get_main_queue_handle_4CF(), &count, sizeof count) < 0) count = 0;
    _dispatch_main_queue_callback_4CF(NULL);
    return G_SOURCE_CONTINUE;
}

void tintype_attach_main_queue(void) {
    static GSourceFuncs functions = {prepare, check, dispatch, NULL, NULL, NULL};
    static gboolean is_attached;
    if (is_attached) return;
    is_attached = TRUE;
    int handle = _dispatch_get_main_queue_handle_4CF();
    g_unix_set_fd_nonblocking(handle, TRUE, NULL);
    GSource *source = g_source_new(&functions, sizeof(MainQueueSource));
    ((MainQueueSource *)source)->tag = g_source_add_unix_fd(source, handle, G_IO_IN);
    g_source_set_name(source, "main queue of libdispatch");
    g_source_attach(source, NULL);
    g_source_unref(source);
}
#endif
