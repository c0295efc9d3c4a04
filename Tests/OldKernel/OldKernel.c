// Runs a helper as a kernel without Landlock would: its system calls don't exist.
//
// The program to run is beside this one, and has the name under which this one was called: tests call it by a link.
#define _GNU_SOURCE
#include <errno.h>
#include <libgen.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

int main(int count, char **arguments) {
    (void)count;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        // The numbers are the same everywhere, and follow each other.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_landlock_create_ruleset, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_landlock_restrict_self, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 71;
    char own[4096] = {0}, program[8192];
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) return 71;
    snprintf(program, sizeof program, "%s/%s", dirname(own), basename(arguments[0]));
    execv(program, arguments);
    return 71;
}
