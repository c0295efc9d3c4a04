#define _GNU_SOURCE
#include "Internal.h"

#include <errno.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The socket, and the program that is to be followed.
static struct pollfd followed[2];

static void *follow(void *unused) {
    (void)unused;
    // A descriptor of -1 is ignored.
    while (poll(followed, 2, -1) < 0 && errno == EINTR) {}
    _exit(0);
}

/// Ends this process when its program ends, or closes its end of the socket. Returns 0, or an error number.
static int follow_program(void) {
    // PR_SET_PDEATHSIG follows the thread that started this process, which ends long before its program does. The socket may be open in
    // a copy of the program, made by fork.
    struct ucred program;
    socklen_t size = sizeof program;
    if (getsockopt(TINTYPE_WORKER_SOCKET, SOL_SOCKET, SO_PEERCRED, &program, &size)) return errno;
    followed[0] = (struct pollfd){.fd = TINTYPE_WORKER_SOCKET, .events = POLLRDHUP};
    followed[1] = (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, program.pid, 0), .events = POLLIN};
    if (getppid() != program.pid) _exit(0);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    int reason = pthread_create(&thread, &attributes, follow, NULL);
    pthread_attr_destroy(&attributes);
    return reason;
}

static void crashed(int number) {
    (void)number;
    // The memory that must be left for a crash to have another reason.
    struct rlimit memory = {0, 0};
    getrlimit(RLIMIT_DATA, &memory);
    if (!SANITIZED && mmap(NULL, memory.rlim_cur / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        _exit(TINTYPE_OUT_OF_MEMORY);
    // The signal comes again, and has no handler any more.
}

/// Ends this process with the status `TINTYPE_OUT_OF_MEMORY` if it crashes when less than an eighth of its memory is left, as libraries do
/// that get none.
static void explain_crashes(void) {
    static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    // These replace the handlers of Swift's runtime, which would start a program to describe a crash.
    struct sigaction action = {.sa_handler = crashed, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigaction(crashes[i], &action, NULL);
}

/// Sets a limit, and the most that it can be raised to; or keeps the program's limit where it is stricter, because that can't be raised.
static int limit(int resource, rlim_t value, rlim_t most) {
    struct rlimit present;
    if (getrlimit(resource, &present)) return -1;
    if (most > present.rlim_max) most = present.rlim_max;
    return setrlimit(resource, &(struct rlimit){value < most ? value : most, most});
}

static int limit_resources(uint64_t memory, uint64_t seconds) {
    // Memory that is shared or mapped from files is in the second limit alone, with the code of all libraries.
    uint64_t space = memory + (4ull << 30);
    // The signal that tells of the used processor time comes some seconds before the signal that gives no reason.
    if (limit(RLIMIT_DATA, memory, memory) || limit(RLIMIT_AS, space, space) || limit(RLIMIT_CPU, seconds, seconds + 5)) return -1;
    return limit(RLIMIT_NOFILE, 64, 64);
}

void tintype_limit_memory(uint64_t memory) {
    if (!SANITIZED) limit(RLIMIT_DATA, memory, RLIM_INFINITY);
}

const char *tintype_confine(uint64_t memory, uint64_t seconds) {
    int has_landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
    // Otherwise the filter refuses to open anything: it can't read names of files.
    if (!has_landlock) tintype_open_fonts();
    if (follow_program()) return "start a thread";
    explain_crashes();
    if (SANITIZED) return NULL;
    if (limit_resources(memory, seconds)) return "limit its memory";
    struct tintype_filter filter;
    tintype_make_decoding_filter(&filter, has_landlock ? 1 : tintype_answer_opens() ? -1 : 0);
    // Threads that libraries have started are confined too. Landlock holds for all of them since before the program was loaded.
    long failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter.program);
    return failed ? "filter its system calls" : NULL;
}
