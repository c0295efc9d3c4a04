#define _GNU_SOURCE
#include "CAllocations.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

// Stand in front of the C library's own functions, in every library of the process.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static __thread uint64_t count;
static _Atomic uint64_t total, tasks, continuations, locks;

uint64_t allocation_count(void) { return count; }

event_counts count_events(void) {
    return (event_counts){.allocations = total, .tasks = tasks, .continuations = continuations, .locks = locks};
}

static void add(void) {
    count++;
    atomic_fetch_add_explicit(&total, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    add();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    add();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    add();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    add();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    add();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

// In front of the functions of other libraries, which are looked up before any thread begins. Those of Swift have its calling convention,
// which is that of C for arguments and results like these.

typedef struct { void *task, *context; } new_task;
static new_task (*next_create)(size_t, void *, const void *, void *, void *);
static void *(*next_continuation)(void *, size_t);
static int (*next_lock)(pthread_mutex_t *);

__attribute__((constructor)) static void look_up(void) {
    next_create = dlsym(RTLD_NEXT, "swift_task_create");
    next_continuation = dlsym(RTLD_NEXT, "swift_continuation_init");
    next_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
}

new_task swift_task_create(size_t flags, void *options, const void *type, void *function, void *context) {
    atomic_fetch_add_explicit(&tasks, 1, memory_order_relaxed);
    return next_create(flags, options, type, function, context);
}

void *swift_continuation_init(void *context, size_t flags) {
    atomic_fetch_add_explicit(&continuations, 1, memory_order_relaxed);
    return next_continuation(context, flags);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!next_lock) look_up();
    atomic_fetch_add_explicit(&locks, 1, memory_order_relaxed);
    return next_lock(mutex);
}
