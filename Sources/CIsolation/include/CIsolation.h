// Workers, processes that decode for a program, and calls that the Swift importer cannot see: macros for control messages, variadic
// functions, and extensions of Linux.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The exit status of a worker whose memory is used up.
#define TINTYPE_OUT_OF_MEMORY 12
/// The exit status of a program that speaks another version of the messages.
#define TINTYPE_OTHER_VERSION 65

/// The version of the messages between a program and its workers.
#define TINTYPE_WIRE_VERSION 5
/// The descriptor of a worker's socket.
#define TINTYPE_WORKER_SOCKET 3

// MARK: Starting a worker

/// Finds out what a worker of this process runs: a program, opened as `file`, into which a `library` is loaded unless it is -1. The program is
/// `helper`, or this one, or, if this code is in a library, one that does nothing. The descriptors stay valid when the files are deleted.
/// Returns NULL, or the reason why there is none.
const char *tintype_find_worker(const char *helper, int *file, int *library);

/// Starts a worker, confined before its program is loaded; the number of the error, or zero. The kernel kills the worker, even one that is
/// stopped, when no process has the `lifeline` any more. The program begins at its `main`, or, if it links
/// a decoder, in `tintype_worker_main`.
int tintype_start_worker(int file, int library, int *socket, int *lifeline, int *process);

/// Decodes for the program at the other end of the socket, instead of `main`; the status to exit with. Programs that link a decoder have it.
int tintype_worker_main(void) __attribute__((weak));

/// Takes all rights from this process but those that decoding needs: system calls that decoding doesn't need end it, its memory and its
/// processor time are limited, and it ends with its program. Without Landlock, it can open only the fonts that are known now.
/// Returns NULL, or what the system refused.
const char *tintype_confine(uint64_t memory, uint64_t seconds);

/// Limits the memory of this process, which is confined, to a number of bytes, but not to more than when it was confined.
void tintype_limit_memory(uint64_t memory);

// MARK: Messages

/// Creates a file in memory that can neither shrink nor grow; -1 with `errno`.
int tintype_memory_file(size_t count);

/// Seals a file in memory against writing, which fails with `EBUSY` as long as anyone has a writable mapping; -1 with `errno`.
int tintype_seal_writing(int file);

/// Sends bytes, with an open file unless it is -1; -1 with `errno`, which is `EAGAIN` if there is no room. Never raises `SIGPIPE`.
long tintype_send(int socket, const void *bytes, size_t count, int file);

/// Receives bytes, and the open file that comes along; no files at all if `file` is NULL, as from a worker. Returns 0 at the end of the
/// connection, and -1 with `errno`, which is `EAGAIN` if there are no bytes.
long tintype_receive(int socket, void *bytes, size_t count, int *file);

/// Opens a process, so that a signal can't reach another one that gets its number; -1 with `errno`.
int tintype_open_process(int process);

/// Sends a signal to a process that was opened, or, if `opened` is -1, to the one with a number.
void tintype_signal_process(int opened, int process, int number);
