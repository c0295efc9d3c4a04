// Shows ThreadSanitizer what continuations order. Preloaded by scripts/test-sanitized.
//
// Swift's runtime tells it of every continuation that is resumed, and of its task that goes on, except where the continuation is resumed
// before its task awaits it: the task then goes on as it is, ordered by an atomic variable of the runtime, which has no instrumentation.
// Everything that was handed over looks like a race. See Documentation/development/upstream/swift-tsan-continuation.md.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

#define ASYNC __attribute__((swiftasynccall))
#define SWIFT __attribute__((swiftcall))
typedef ASYNC void Resume(__attribute__((swift_async_context)) void *context);

// How each continuation's context begins (ContinuationAsyncContext, in the runtime's Task.h).
typedef struct { void *parent; Resume *resume; } Context;

// Missing in processes without the sanitizer, such as `swift test`.
extern void __tsan_acquire(void *) __attribute__((weak));
extern SWIFT void *swift_task_getCurrent(void) __attribute__((weak));

static SWIFT void *(*init)(Context *, size_t);
__attribute__((constructor)) static void find(void) { init = dlsym(RTLD_NEXT, "swift_continuation_init"); }

// Where tasks go on, by the contexts of their continuations. A lock would order what isn't ordered, and so hide races.
enum { SLOTS = 1 << 20 };
static struct { _Atomic(Context *) context; Resume *resume; } waiting[SLOTS];
static uint32_t slot(Context *context) { return (uint32_t)((uintptr_t)context >> 4) * 2654435761u >> 12; }

// Runs as the task, once its continuation has been resumed.
static ASYNC void go_on(__attribute__((swift_async_context)) void *context) {
    uint32_t i = slot(context);
    while (atomic_load(&waiting[i].context) != context) i = (i + 1) % SLOTS;
    Resume *resume = waiting[i].resume;
    atomic_store(&waiting[i].context, 0);
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return resume(context);
}

SWIFT void *swift_continuation_init(Context *context, size_t flags) {
    if (__tsan_acquire) {
        uint32_t i = slot(context);
        Context *none = 0;
        while (!atomic_compare_exchange_strong(&waiting[i].context, &none, context)) none = 0, i = (i + 1) % SLOTS;
        waiting[i].resume = context->resume;
        context->resume = go_on;
    }
    return init(context, flags);
}
