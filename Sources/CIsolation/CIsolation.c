#define _GNU_SOURCE
#include "CIsolation.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8
#endif

int tintype_memory_file(size_t count) {
    // A file over the limit would end the program with a signal.
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && count > limit.rlim_cur) {
        errno = EFBIG;
        return -1;
    }
    // Systems that allow no executable files in memory want to be told so, and older ones don't know the flag.
    int file = memfd_create("tintype", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (file < 0 && errno == EINVAL) file = memfd_create("tintype", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)count) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

int tintype_seal_writing(int file) { return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL); }

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

long tintype_send(int socket, const void *bytes, size_t count, int file) {
    struct iovec vector = {(void *)bytes, count};
    union control control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    memcpy(CMSG_DATA(&control.header), &file, sizeof file);
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    long sent;
    // A worker, which has no files to give, may only make the second call.
    do sent = file >= 0 ? sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT)
                        : send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent;
}

long tintype_receive(int socket, void *bytes, size_t count, int *file) {
    struct iovec vector = {bytes, count};
    union control control;
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (file) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
    }
    long received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (received < 0 && errno == EINTR);
    if (received < 0 || !file) return received;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(file, CMSG_DATA(header), sizeof *file);
    return received;
}

int tintype_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

void tintype_signal_process(int opened, int process, int number) {
    if (opened >= 0) syscall(SYS_pidfd_send_signal, opened, number, NULL, 0);
    else kill(process, number);
}
