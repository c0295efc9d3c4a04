// Calls that the Swift importer cannot see: macros for control messages, variadic functions, and extensions of Linux.
#ifndef TINTYPE_CISOLATION_H
#define TINTYPE_CISOLATION_H

#include <stddef.h>

/// The exit status of a worker whose memory is used up.
#define TINTYPE_OUT_OF_MEMORY 12

/// Creates a file in memory that can neither shrink nor grow; -1 with `errno`.
int tintype_memory_file(size_t count);

/// Seals a file in memory against writing, which fails with `EBUSY` as long as anyone has a writable mapping; -1 with `errno`.
int tintype_seal_writing(int file);

/// Returns 1 for a file in memory of at least this size that can't shrink, so that reading a mapping of it can't trap; otherwise 0.
int tintype_is_memory_file(int file, size_t count);

/// Sends bytes, with an open file unless it is -1; -1 with `errno`, which is `EAGAIN` if there is no room. Never raises `SIGPIPE`.
long tintype_send(int socket, const void *bytes, size_t count, int file);

/// Receives bytes, and an open file or -1; no files at all if `file` is NULL. Returns 0 at the end of the connection, and -1 with `errno`,
/// which is `EAGAIN` if there are no bytes.
long tintype_receive(int socket, void *bytes, size_t count, int *file);

/// Starts a program with nothing but a socket, as descriptor 3, and an empty environment; the number of the error, or zero.
int tintype_spawn(const char *path, int socket, int *process);

/// Opens a process, so that a signal can't reach another one that gets its number; -1 with `errno`.
int tintype_open_process(int process);

/// Kills a process that was opened, or, if `opened` is -1, the one with a number.
void tintype_kill(int opened, int process);

#endif
