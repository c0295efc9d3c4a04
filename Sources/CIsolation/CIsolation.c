#define _GNU_SOURCE
#include "CIsolation.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int tintype_memory_file(size_t count) {
    int file = memfd_create("tintype", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)count) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

int tintype_seal_writing(int file) { return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL); }

int tintype_is_memory_file(int file, size_t count) {
    struct stat status;
    int seals = fcntl(file, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(file, &status) == 0 && status.st_size >= 0
        && (size_t)status.st_size >= count;
}

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

long tintype_send(int socket, const void *bytes, size_t count, int file) {
    struct iovec vector = {(void *)bytes, count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    union control control;
    if (file >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &file, sizeof file);
    }
    long sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent;
}

long tintype_receive(int socket, void *bytes, size_t count, int *file) {
    struct iovec vector = {bytes, count};
    union control control;
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (file) {
        *file = -1;
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
    }
    long received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (received < 0 && errno == EINTR);
    if (received < 0 || !file) return received;
    // The room for one file may be enough for two, because it is aligned.
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        for (size_t offset = 0; CMSG_LEN(offset + sizeof(int)) <= header->cmsg_len; offset += sizeof(int)) {
            int next;
            memcpy(&next, CMSG_DATA(header) + offset, sizeof next);
            if (*file >= 0) close(next);
            else *file = next;
        }
    }
    return received;
}

int tintype_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

void tintype_kill(int opened, int process) {
    if (opened >= 0) syscall(SYS_pidfd_send_signal, opened, SIGKILL, NULL, 0);
    else kill(process, SIGKILL);
}

int tintype_spawn(const char *path, int socket, int *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    char *arguments[] = {(char *)path, NULL}, *environment[] = {NULL};
    // Out of the way of the standard streams, which a program may have closed.
    int copy = fcntl(socket, F_DUPFD_CLOEXEC, 4);
    if (copy < 0) return errno;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) {
        close(copy);
        return error;
    }
    if ((error = posix_spawnattr_init(&attributes)) == 0) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        // A group of its own: Ctrl-C in a terminal is for the program, which ends its workers.
        posix_spawnattr_setpgroup(&attributes, 0);
        for (int standard = 0; standard < 3 && !error; standard++)
            error = posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", standard ? O_WRONLY : O_RDONLY, 0);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, copy, 3);
        if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, 4);
        if (!error) error = posix_spawn(process, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(copy);
    return error;
}
