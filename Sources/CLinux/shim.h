// Calls that the Swift importer cannot see: they are variadic, an instruction, GNU extensions or in headers of their own.
#ifndef TINTYPE_CLINUX_H
#define TINTYPE_CLINUX_H

#include <errno.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif

extern long syscall(long number, ...);
extern ssize_t pread(int file, void *memory, size_t count, off_t offset);

/// Reads an extended attribute of an open file; tells its size without memory to read it into, or -1.
static inline ssize_t tintype_attribute(int file, const char *name, void *memory, size_t count) {
    return fgetxattr(file, name, memory, count);
}

/// Opens a file below a directory, without following symbolic links; -1 with `ENOSYS` or `EPERM` where the call doesn't exist.
/// - cached: only if the kernel can do so without waiting for the disk; else -1 with `EAGAIN` (Linux 5.12).
static inline int tintype_open_beneath(int directory, const char *path, uint64_t flags, uint64_t mode, int cached) {
    struct open_how how = {.flags = flags, .mode = mode, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    if (cached) how.resolve |= RESOLVE_CACHED;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

/// Opens a path if the kernel can do so without waiting for the disk; else -1, with `EAGAIN` (Linux 5.12).
static inline int tintype_open_cached(const char *path, uint64_t flags) {
    struct open_how how = {.flags = flags, .mode = 0, .resolve = RESOLVE_CACHED};
    return (int)syscall(SYS_openat2, -100 /* AT_FDCWD */, path, &how, sizeof how);
}

/// Reads from the start of a file the part that is in memory already; else -1 with `EAGAIN`, or fewer bytes.
static inline ssize_t tintype_read_cached(int file, void *memory, size_t count) {
    struct iovec vector = {memory, count};
    ssize_t result = syscall(SYS_preadv2, file, &vector, 1, 0, 0, RWF_NOWAIT);
    if (result >= 0 || errno != EOPNOTSUPP) return result;
    // tmpfs does not know the flag, and has no disk to wait for.
    struct statfs status;
    if (fstatfs(file, &status) == 0 && status.f_type == TMPFS_MAGIC) return pread(file, memory, count, 0);
    errno = EAGAIN;
    return -1;
}

#endif
