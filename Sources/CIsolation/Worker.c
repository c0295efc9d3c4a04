// Starting workers, and becoming a worker. Both are in the same file, so that a program that can start a worker has linked the constructor.
#define _GNU_SOURCE
#include "Internal.h"

#include <elf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The variable that makes a process a worker. Its value is the version of the messages.
#define VARIABLE "TINTYPE_WORKER"
#define TEXT(value) #value
#define VALUE(macro) TEXT(macro)

// MARK: Becoming a worker

typedef void (*constructor)(int, char **, char **);
extern const constructor __init_array_start[] __attribute__((weak, visibility("hidden")));
extern const constructor __init_array_end[] __attribute__((weak, visibility("hidden")));

/// Returns 1 if this process has no more rights than the process that started it, although its file would give some: then it isn't
/// dangerous that any process can make it a worker.
static int is_powerless(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && getuid() == geteuid() && getgid() == getegid()
        && syscall(SYS_capget, &header, sets) == 0 && !sets[0].permitted && !sets[1].permitted;
}

/// Returns 1 if the parent of this process has made the socket.
static int has_program(void) {
    struct ucred program;
    socklen_t length = sizeof program, size = sizeof(int);
    int type = 0;
    return getsockopt(TINTYPE_WORKER_SOCKET, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM
        && getsockopt(TINTYPE_WORKER_SOCKET, SOL_SOCKET, SO_PEERCRED, &program, &length) == 0 && program.pid == getppid();
}

/// Runs before `main`, which a worker never reaches.
__attribute__((constructor)) static void become_worker(int argc, char **argv, char **environment) {
    const char *version = getenv(VARIABLE);
    if (!version) return;
    int is_other = strcmp(version, VALUE(TINTYPE_WIRE_VERSION)) != 0;
    unsetenv(VARIABLE);
    // A program with more rights must not be turned into a worker.
    if (getauxval(AT_SECURE) && !is_powerless()) return;
    if (!has_program()) {
        static const char text[] = VARIABLE " is for processes that decode images. Unset it.\n";
        (void)!write(2, text, sizeof text - 1);
        _exit(64);
    }
    if (is_other) _exit(TINTYPE_OTHER_VERSION);
    // Bytes that a library doesn't write are zero, and not left over from another image.
    mallopt(M_PERTURB, 255);
    // What is large goes back to the system at once, and the rest stays: pages that were never used before cost more than small images.
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    if (!tintype_worker_main) return;
    unsetenv("LD_PRELOAD");
    prctl(PR_SET_NAME, "tintype-worker");
    fcntl(TINTYPE_WORKER_SOCKET, F_SETFD, FD_CLOEXEC);
    // Libraries that are linked statically, such as Swift's own, have later constructors.
    long count = __init_array_end - __init_array_start, next = count;
    for (long i = 0; i < count; i++)
        if (__init_array_start[i] == (constructor)become_worker) next = i + 1;
    for (; next < count; next++)
        if (__init_array_start[next]) __init_array_start[next](argc, argv, environment);
    _exit(tintype_worker_main());
}

// MARK: Finding the program

/// The start of the file that this code was loaded from, which every linker names.
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak, visibility("hidden")));

/// Returns 1 if a file starts with the same page as the file that this code was loaded from: its headers, and the number of its build.
static int has_own_start(int file) {
    const ElfW(Ehdr) *header = &__ehdr_start;
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
    const ElfW(Phdr) *segments = (const void *)((const char *)header + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type != PT_LOAD || segments[i].p_offset != 0 || (segments[i].p_flags & PF_W)) continue;
        unsigned char bytes[4096];
        size_t count = segments[i].p_filesz < sizeof bytes ? segments[i].p_filesz : sizeof bytes;
        return pread(file, bytes, count, 0) == (ssize_t)count && memcmp(bytes, header, count) == 0;
    }
    return 0;
}

/// Opens a file if this code was loaded from it; -1 otherwise.
static int open_own(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || has_own_start(file)) return file;
    close(file);
    errno = ENOENT;
    return -1;
}

/// Opens the library that this code is in. The path that it was loaded from may be relative to a directory of the past.
static int open_own_library(void) {
    Dl_info info;
    int file = -1;
    if (dladdr((void *)&become_worker, &info) && info.dli_fname && info.dli_fname[0] == '/') file = open_own(info.dli_fname);
    FILE *maps = file < 0 ? fopen("/proc/self/maps", "re") : NULL;
    char line[PATH_MAX + 128];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long first, last, address = (unsigned long)&become_worker;
        if (sscanf(line, "%lx-%lx", &first, &last) != 2 || address < first || address >= last) continue;
        char *path = strchr(line, '/');
        if (path) path[strcspn(path, "\n")] = 0;
        if (path) file = open_own(path);
        break;
    }
    if (maps) fclose(maps);
    return file;
}

const char *tintype_find_worker(const char *helper, int *file, int *library) {
    *file = *library = -1;
    if (helper) {
        *file = helper[0] == '/' && access(helper, X_OK) == 0 ? open(helper, O_PATH | O_CLOEXEC) : -1;
        return *file >= 0 ? NULL : "the helper is not a program with an absolute path";
    }
    if (!tintype_worker_main) return "the program links no decoder";
    // The kernel, or the loader that was run with it, tells where the program's headers are.
    if (&__ehdr_start && getauxval(AT_PHDR) == (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff) {
        // Leads to the program even if it was deleted or replaced.
        *file = open_own("/proc/self/exe");
        int reason = errno;
        const char *path = (const char *)getauxval(AT_EXECFN);
        if (*file < 0 && path && path[0] == '/') *file = open_own(path);
        if (*file >= 0) return NULL;
        if (reason == EMFILE || reason == ENFILE || reason == ENOMEM) return "the system has no descriptor or memory left for it";
        return reason == EACCES ? "the program's file can't be read"
                                : "the program's file isn't found: there is no /proc, or another program, such as valgrind, runs it";
    }
    *library = open_own_library();
    if (*library < 0) return "the library's file was replaced or deleted";
    // A program that does nothing, in case the library can't be loaded. The loader that has loaded it must not run again.
    *file = open("/usr/bin/true", O_PATH | O_CLOEXEC);
    if (*file < 0) *file = open("/bin/true", O_PATH | O_CLOEXEC);
    if (*file >= 0) return NULL;
    close(*library);
    return "there is no /usr/bin/true that could load the library";
}

// MARK: Starting

/// Everything that a new process needs, made before it exists: it shares the memory of this process until its program is loaded.
struct start {
    int file, library, socket, lifeline, null, rules;
    int error;
    // -1 for those that the program has already.
    uid_t user;
    gid_t group;
    int has_capabilities;
    char *const *arguments, *const *environment;
    const struct sock_fprog *filter;
};

#define CALL(name, ...) syscall(SYS_##name, __VA_ARGS__)
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

/// Copies a descriptor above those that the new program gets.
#define RAISED(file) ((int)CALL(fcntl, file, F_DUPFD_CLOEXEC, 10))

/// Gives the new process its descriptors, and nothing else of the program. Returns the new number of `file`, or -1.
__attribute__((no_sanitize("address", "thread"))) static int arrange_descriptors(const struct start *start, int *rules) {
    int file = RAISED(start->file), socket = RAISED(start->socket), lifeline = RAISED(start->lifeline), null = RAISED(start->null);
    int library = start->library >= 0 ? RAISED(start->library) : -1;
    int first = library >= 0 ? LIBRARY + 1 : LIFELINE + 1;
    *rules = start->rules >= 0 ? RAISED(start->rules) : -1;
    if (file < 0 || socket < 0 || lifeline < 0 || null < 0 || (start->library >= 0 && library < 0) || (start->rules >= 0 && *rules < 0)) return -1;
    for (int standard = 0; standard < 3; standard++)
        if (CALL(dup3, null, standard, 0) < 0) return -1;
    if (CALL(dup3, socket, TINTYPE_WORKER_SOCKET, 0) < 0 || CALL(dup3, lifeline, LIFELINE, 0) < 0) return -1;
    if (library >= 0 && CALL(dup3, library, LIBRARY, 0) < 0) return -1;
    // The end of the other end is a signal, and nothing is ever sent.
    long own = syscall(SYS_getpid);
    if (CALL(fcntl, LIFELINE, F_SETOWN, own) != 0 || CALL(fcntl, LIFELINE, F_SETSIG, SIGKILL) != 0) return -1;
    if (CALL(fcntl, LIFELINE, F_SETFL, O_RDWR | O_ASYNC) != 0) return -1;
    // Marked, not closed: some are still needed. Linux 5.11; before, one by one.
    if (CALL(close_range, first, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
        for (int other = first; other < 65536; other++) CALL(fcntl, other, F_SETFD, FD_CLOEXEC);
    return file;
}

/// Gives up the program's rights. Returns 0, or -1.
__attribute__((no_sanitize("address", "thread"))) static int drop_rights(const struct start *start, int rules) {
    struct rlimit none = {0, 0};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}, {0, 0, 0}};
    CALL(prlimit64, 0, RLIMIT_CORE, &none, NULL);
    if (CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    // With its capabilities, a process of root could read the program's environment. Most programs have none, and a manager of services
    // may allow none of these calls.
    CALL(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (start->has_capabilities && CALL(capset, &header, sets) != 0) return -1;
    // The decoder of a setuid program belongs to no other user.
    if (start->group != (gid_t)-1 && CALL(setresgid, start->group, start->group, start->group) != 0) return -1;
    if (start->user != (uid_t)-1 && CALL(setresuid, start->user, start->user, start->user) != 0) return -1;
    if (rules >= 0 && CALL(landlock_restrict_self, rules, 0) != 0) return -1;
    return start->filter && CALL(seccomp, SECCOMP_SET_MODE_FILTER, 0, start->filter) != 0 ? -1 : 0;
}

/// Runs in the new process, on a stack of its own. Only system calls are allowed: the memory is the program's.
__attribute__((no_sanitize("address", "thread"))) static int begin(void *argument) {
    struct start *start = argument;
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } standard = {0}, ignored = {.handler = (void *)SIG_IGN};
    for (int number = 1; number <= 64; number++) CALL(rt_sigaction, number, &standard, NULL, sizeof standard.mask);
    // A manager of services asks all of its processes to end. The program decides when: it may finish its loads first.
    CALL(rt_sigaction, SIGTERM, &ignored, NULL, sizeof ignored.mask);
    CALL(rt_sigaction, SIGHUP, &ignored, NULL, sizeof ignored.mask);
    CALL(rt_sigaction, SIGINT, &ignored, NULL, sizeof ignored.mask);
    CALL(rt_sigprocmask, SIG_SETMASK, &standard.mask, NULL, sizeof standard.mask);
    // A group of its own: Ctrl-C in a terminal is for the program, which ends its workers.
    CALL(setpgid, 0, 0);
    // The first to go when memory is short.
    int score = (int)CALL(openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);
    if (score >= 0) {
        CALL(write, score, "1000", 4);
        CALL(close, score);
    }
    int rules, file = arrange_descriptors(start, &rules);
    if (file >= 0 && CALL(chdir, "/") == 0 && drop_rights(start, rules) == 0)
        CALL(execveat, file, "", start->arguments, start->environment, AT_EMPTY_PATH);
    start->error = errno;
    CALL(exit_group, 127);
    __builtin_unreachable();
}

/// Creates the process of a start, and waits until its program is loaded; the number of the error, or zero.
static int create_process(struct start start, int *process) {
    // Shared, for sanitizers: there the process gets a copy of the program's memory. Otherwise it has the memory itself, which takes no
    // time, however much that is.
    size_t size = 256 << 10;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return errno;
    struct start *shared = (struct start *)stack;
    *shared = start;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    *process = clone(begin, stack + size, (SANITIZED ? 0 : CLONE_VM) | CLONE_VFORK | SIGCHLD, shared);
    int error = *process < 0 ? errno : shared->error;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error && *process > 0)
        while (waitpid(*process, NULL, 0) < 0 && errno == EINTR) {}
    munmap(stack, size);
    return error;
}

/// Finds out which rights a new process would have that it must give up.
static void find_rights(struct start *start) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    start->has_capabilities = syscall(SYS_capget, &header, sets) != 0;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        start->has_capabilities |= (sets[i].permitted | sets[i].effective | sets[i].inheritable) != 0;
    uid_t users[3];
    gid_t groups[3];
    getresuid(&users[0], &users[1], &users[2]);
    getresgid(&groups[0], &groups[1], &groups[2]);
    start->user = users[0] != users[1] || users[2] != users[1] ? users[1] : (uid_t)-1;
    start->group = groups[0] != groups[1] || groups[2] != groups[1] ? groups[1] : (gid_t)-1;
}

/// The variable with the folders where the loader finds the program's libraries; empty if there is none. It is read once: another thread
/// may change the environment at any time.
static char libraries[PATH_MAX + 32];

static void find_libraries(void) {
    const char *folders = secure_getenv("LD_LIBRARY_PATH");
    if (folders && snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", folders) >= (int)sizeof libraries) libraries[0] = 0;
}

int tintype_start_worker(int file, int library, int *socket, int *lifeline, int *process) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_libraries);
    // The loader finds the program's libraries where this process's loader did. The runtime would start a program to describe a crash.
    char *environment[6] = {VARIABLE "=" VALUE(TINTYPE_WIRE_VERSION), "SWIFT_BACKTRACE=enable=no"};
    char *arguments[] = {"true", NULL};
    size_t count = 2;
    // Huge pages: a large image takes fewer faults. The C library ignores it in a process that root has started. Where pages are large, huge
    // ones have hundreds of megabytes.
    if (getpagesize() == 4096) environment[count++] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";
    if (libraries[0]) environment[count++] = libraries;
    if (library >= 0) environment[count++] = "LD_PRELOAD=/proc/self/fd/5";
    struct tintype_filter filter;
    tintype_make_loading_filter(&filter);
    struct start start = {
        .file = file, .library = library, .arguments = arguments, .environment = environment,
        .filter = SANITIZED ? NULL : &filter.program};
    find_rights(&start);
    int ends[2] = {-1, -1}, lives[2] = {-1, -1};
    int error = tintype_readable_files(file, library, libraries[0] ? strchr(libraries, '=') + 1 : NULL, &start.rules);
    if (!error && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) error = errno;
    if (!error && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lives)) error = errno;
    start.socket = ends[1];
    start.lifeline = lives[1];
    start.null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (start.null < 0) start.null = memfd_create("null", MFD_CLOEXEC);
    if (!error && start.null < 0) error = errno;
    if (!error) error = create_process(start, process);
    int opened[] = {start.rules, start.null, ends[1], lives[1], error ? ends[0] : -1, error ? lives[0] : -1};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (opened[i] >= 0) close(opened[i]);
    *socket = ends[0];
    *lifeline = lives[0];
    return error;
}
