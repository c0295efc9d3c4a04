#define _GNU_SOURCE
#include "CSandbox.h"
#include "FontFiles.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

void tintype_find_program(int socket) {
    // PR_SET_PDEATHSIG follows the thread that started this process, which ends long before its program does. The socket may be open in
    // a copy of the program, made by fork.
    pid_t parent = getppid();
    followed[0] = (struct pollfd){.fd = socket, .events = POLLRDHUP};
    followed[1] = (struct pollfd){.fd = parent > 1 ? (int)syscall(SYS_pidfd_open, parent, 0) : -1, .events = POLLIN};
    if (getppid() != parent) _exit(0);
}

int tintype_follow_program(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    int reason = pthread_create(&thread, &attributes, follow, NULL);
    pthread_attr_destroy(&attributes);
    errno = reason;
    return reason == 0 ? 0 : -1;
}

int tintype_await_threads(void) {
    struct stat status;
    for (int rest = 10000; rest > 0; rest--) {
        // Two links of the directory itself, and one for each thread.
        if (stat("/proc/self/task", &status) != 0 || status.st_nlink <= 3) return 0;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return -1;
}

/// The memory that must be left for a crash to have another reason.
static size_t reserve;

static void crashed(int number) {
    (void)number;
    if (mmap(NULL, reserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        _exit(TINTYPE_OUT_OF_MEMORY);
    // The signal comes again, and has no handler any more.
}

void tintype_explain_crashes(uint64_t memory) {
    static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    reserve = memory / 8;
    // These replace the handlers of Swift's runtime, which would start a program to describe a crash.
    struct sigaction action = {.sa_handler = crashed, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigaction(crashes[i], &action, NULL);
}

/// Sets a limit, or keeps that of the program where it is stricter: nobody may raise that.
static int limit(int resource, rlim_t value) {
    struct rlimit present;
    if (getrlimit(resource, &present)) return -1;
    if (value > present.rlim_max) value = present.rlim_max;
    return setrlimit(resource, &(struct rlimit){value, value});
}

int tintype_limit_resources(uint64_t memory, uint64_t seconds) {
    // Memory that is shared or mapped from files is in the second limit alone, with the code of all libraries.
    uint64_t space = memory > UINT64_MAX - (4ull << 30) ? memory : memory + (4ull << 30);
    if (limit(RLIMIT_DATA, memory) || limit(RLIMIT_AS, space) || limit(RLIMIT_CPU, seconds)) return -1;
    return limit(RLIMIT_CORE, 0) || limit(RLIMIT_NOFILE, 64) ? -1 : 0;
}

size_t tintype_font_directories(char **directories, size_t count) {
    // Not linked: a build without SVG and PDF has no fontconfig.
    void *(*fonts)(void *) = (void *(*)(void *))dlsym(RTLD_DEFAULT, "FcConfigGetFontDirs");
    void *(*caches)(void *) = (void *(*)(void *))dlsym(RTLD_DEFAULT, "FcConfigGetCacheDirs");
    char *(*next)(void *) = (char *(*)(void *))dlsym(RTLD_DEFAULT, "FcStrListNext");
    void (*done)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "FcStrListDone");
    if (!fonts || !caches || !next || !done) return 0;
    size_t found = 0;
    void *lists[] = {fonts(NULL), caches(NULL)};
    for (size_t i = 0; i < 2; i++) {
        if (!lists[i]) continue;
        for (char *path; found < count && (path = next(lists[i]));) directories[found++] = strdup(path);
        done(lists[i]);
    }
    return found;
}

int tintype_restrict_files(const char *const *directories) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) {
        tintype_open_fonts();
        return 0;
    }
    // All rights of the first version.
    struct landlock_ruleset_attr rules = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    int set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (set < 0) return -1;
    for (; *directories; directories++) {
        struct landlock_path_beneath_attr rule = {
            .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
            .parent_fd = open(*directories, O_PATH | O_CLOEXEC | O_DIRECTORY)};
        if (rule.parent_fd < 0) continue;
        long failed = syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        close(rule.parent_fd);
        if (failed) {
            close(set);
            return -1;
        }
    }
    long failed = syscall(SYS_landlock_restrict_self, set, 0);
    close(set);
    return failed ? -1 : 1;
}

int tintype_restrict_calls(int opens) {
    static const int allowed[] = {
        // Memory and threads.
        SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
        SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(exit), SCMP_SYS(exit_group),
        SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu), SCMP_SYS(membarrier),
        SCMP_SYS(set_tid_address), SCMP_SYS(gettid), SCMP_SYS(getpid), SCMP_SYS(restart_syscall),
        // Signals that a process raises for itself.
        SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
        // Time and chance.
        SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
        SCMP_SYS(gettimeofday), SCMP_SYS(times), SCMP_SYS(getrusage), SCMP_SYS(getrandom), SCMP_SYS(sysinfo), SCMP_SYS(uname),
        // Open descriptors: the socket, shared memory, fonts.
        SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(lseek),
        SCMP_SYS(close), SCMP_SYS(dup), SCMP_SYS(fstat), SCMP_SYS(poll), SCMP_SYS(ppoll),
        SCMP_SYS(sendmsg), SCMP_SYS(recvmsg), SCMP_SYS(getdents64), SCMP_SYS(fstatfs), SCMP_SYS(fadvise64),
        // Users, whom GLib asks for.
        SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getcwd),
        // Names of files tell nothing that could be sent anywhere.
        SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat),
        SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(statfs),
    };
    // What libraries try, and do without.
    static const int refused[] = {
        SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat),
        SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(chmod), SCMP_SYS(fchmodat), SCMP_SYS(utimensat),
        SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setaffinity), SCMP_SYS(ioctl),
        // GLib asks where its warnings go.
        SCMP_SYS(getpeername),
    };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter) return -1;
    // Threads that libraries have started are confined too.
    int error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; !error && i < sizeof allowed / sizeof *allowed; i++)
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (size_t i = 0; !error && i < sizeof refused / sizeof *refused; i++)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
    // Threads, but no processes. The flags of clone3 are in memory, which a filter can't read: the C library then uses clone.
    if (!error)
        error = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (!error) error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (!error)
        error = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    // Others would send signals to any process of the user.
    static const int commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GET_SEALS};
    for (size_t i = 0; !error && i < sizeof commands / sizeof *commands; i++)
        error = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)commands[i]));
    // Names of threads.
    if (!error)
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    // Limits of this process can be read.
    if (!error)
        error = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));
    // With Landlock, the directories on the list can be read. Without it, nothing is opened anymore but copies of fonts.
    const scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC;
    if (!error && opens)
        error = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, writing, O_RDONLY));
    static const scmp_datum_t bits[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC};
    for (size_t i = 0; !error && opens && i < sizeof bits / sizeof *bits; i++)
        error = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
    if (!error && !opens)
        error = seccomp_rule_add(
            filter, tintype_answer_opens() ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 0);
    if (!error) error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(open), 0);
    if (!error) error = seccomp_load(filter);
    seccomp_release(filter);
    errno = -error;
    return error ? -1 : 0;
}
