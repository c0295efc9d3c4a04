#define _GNU_SOURCE
#include "Internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "Isolated decoding has no filter of system calls for this architecture."
#endif

#define ERROR(number) (SECCOMP_RET_ERRNO | (number))
#define COUNT(array) (sizeof(array) / sizeof *(array))
/// The lower half of an argument, on machines whose first byte is the lowest.
#define ARGUMENT(index) (offsetof(struct seccomp_data, args) + 8 * (index))
#define ANY_BIT UINT32_MAX

static void add(struct tintype_filter *filter, uint16_t code, uint8_t yes, uint8_t no, uint32_t value) {
    filter->steps[filter->program.len++] = (struct sock_filter){code, yes, no, value};
}

static void load(struct tintype_filter *filter, size_t offset) {
    add(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void end(struct tintype_filter *filter, uint32_t action) { add(filter, BPF_RET | BPF_K, 0, 0, action); }

/// The action for a call with any arguments.
static void rule(struct tintype_filter *filter, uint32_t call, uint32_t action) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call);
    end(filter, action);
}

static void rules(struct tintype_filter *filter, const uint16_t *calls, size_t count, uint32_t action) {
    for (size_t i = 0; i < count; i++) rule(filter, calls[i], action);
}

/// The action for a call with `argument & mask == value`. Later rules see the call otherwise.
static void rule_where(
    struct tintype_filter *filter, uint32_t call, int argument, uint32_t mask, uint32_t value, uint32_t action) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, call);
    load(filter, ARGUMENT(argument));
    add(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    end(filter, action);
    load(filter, offsetof(struct seccomp_data, nr));
}

static void begin(struct tintype_filter *filter) {
    filter->program = (struct sock_fprog){.len = 0, .filter = filter->steps};
    load(filter, offsetof(struct seccomp_data, arch));
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
    end(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    // The same calls with other numbers, for programs with short pointers.
    add(filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
    end(filter, SECCOMP_RET_KILL_PROCESS);
#endif
}

void tintype_make_loading_filter(struct tintype_filter *filter) {
    static const uint16_t refused[] = {
        // Other processes and machines.
        SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo,
        SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal, SYS_pidfd_getfd, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
        SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open, SYS_setsid,
        // The system itself.
        SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_bpf, SYS_perf_event_open, SYS_keyctl,
        SYS_add_key, SYS_request_key, SYS_userfaultfd, SYS_io_uring_setup, SYS_init_module, SYS_finit_module, SYS_reboot,
        SYS_open_by_handle_at,
    };
    begin(filter);
    rules(filter, refused, COUNT(refused), ERROR(EACCES));
    end(filter, SECCOMP_RET_ALLOW);
}

void tintype_make_decoding_filter(struct tintype_filter *filter, int opens) {
    static const uint16_t allowed[] = {
        // Open descriptors: the socket, shared memory, fonts.
        SYS_read, SYS_readv, SYS_pread64, SYS_pwrite64, SYS_write, SYS_writev, SYS_lseek, SYS_close, SYS_dup, SYS_fstat, SYS_ppoll,
        SYS_sendto, SYS_recvmsg, SYS_getdents64, SYS_fstatfs, SYS_fadvise64,
        // Memory and threads.
        SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_exit,
        SYS_exit_group, SYS_sched_yield, SYS_sched_getaffinity, SYS_getcpu, SYS_membarrier, SYS_set_tid_address, SYS_gettid, SYS_getpid,
        SYS_getppid, SYS_restart_syscall,
        // Signals that a process raises for itself.
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
        // Time and chance.
        SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_times, SYS_getrusage,
        SYS_getrandom, SYS_sysinfo, SYS_uname,
        // Users, whom GLib asks for.
        SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getcwd,
        // Names of files tell nothing that could be sent anywhere.
        SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_statfs,
#if defined(__x86_64__)
        SYS_poll, SYS_stat, SYS_lstat, SYS_access, SYS_readlink,
#endif
    };
    // Calls that libraries try, and do without. GLib asks where its warnings go.
    static const uint16_t refused[] = {
        SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_linkat, SYS_fchmodat, SYS_utimensat, SYS_sched_setscheduler,
        SYS_sched_setaffinity, SYS_ioctl, SYS_getpeername,
#if defined(__x86_64__)
        SYS_open, SYS_mkdir, SYS_unlink, SYS_rename, SYS_link, SYS_chmod,
#endif
    };
    // Others would send signals to any process of the user.
    static const uint32_t commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
    begin(filter);
    // The lifeline: the kernel uses it to end this process with its program.
    rule_where(filter, SYS_close, 0, ANY_BIT, LIFELINE, SECCOMP_RET_KILL_PROCESS);
    rules(filter, allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
    rules(filter, refused, COUNT(refused), ERROR(EACCES));
    // Threads, but no processes. The flags of clone3 are in memory, which a filter can't read: the C library then uses clone.
    rule_where(filter, SYS_clone, 0, CLONE_THREAD, CLONE_THREAD, SECCOMP_RET_ALLOW);
    rule(filter, SYS_clone3, ERROR(ENOSYS));
    rule_where(filter, SYS_tgkill, 0, ANY_BIT, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < COUNT(commands); i++) rule_where(filter, SYS_fcntl, 1, ANY_BIT, commands[i], SECCOMP_RET_ALLOW);
    rule_where(filter, SYS_prctl, 0, ANY_BIT, PR_SET_NAME, SECCOMP_RET_ALLOW);
    // Its own limits, which can't be raised.
    rule_where(filter, SYS_prlimit64, 0, ANY_BIT, 0, SECCOMP_RET_ALLOW);
    if (opens > 0) rule_where(filter, SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY, SECCOMP_RET_ALLOW);
    rule(filter, SYS_openat, opens < 0 ? SECCOMP_RET_TRAP : ERROR(EACCES));
    end(filter, SECCOMP_RET_KILL_PROCESS);
}
