// Shows ThreadSanitizer what continuations order. Preloaded by scripts/test-sanitized.
//
// Swift's runtime tells it of tasks that are resumed, except where a continuation is resumed before its task awaits it: the task then goes
// on as it is, ordered by an atomic variable of the runtime, which has no instrumentation. Everything that was handed over looks like a
// race. See Documentation/development/upstream/swift-tsan-continuation.md.
#define _GNU_SOURCE
#include <dlfcn.h>

#define SWIFT __attribute__((swiftcall))
#define ASYNC __attribute__((swiftasynccall))

// Missing in processes without the sanitizer, such as `swift test`.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));
extern SWIFT void *swift_task_getCurrent(void) __attribute__((weak));

static SWIFT void (*resume)(void *);
static ASYNC void (*await)(void *);

__attribute__((constructor)) static void find(void) {
    resume = dlsym(RTLD_NEXT, "swift_continuation_resume");
    await = dlsym(RTLD_NEXT, "swift_continuation_await");
}

SWIFT void swift_continuation_resume(void *task) {
    if (__tsan_release) __tsan_release(task);
    resume(task);
}

ASYNC void swift_continuation_await(void *context) {
    // A continuation that is resumed from here on until the runtime looks still seems a race: that takes a few instructions.
    if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return await(context);
}
