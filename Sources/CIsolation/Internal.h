// What the files of this module share.
#pragma once

#include "CIsolation.h"

#include <linux/filter.h>

// Sanitizers reserve much address space, and make system calls of their own: a worker has neither limits of memory nor filters then.
#define SANITIZED 0
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef SANITIZED
#define SANITIZED 1
#endif
#endif

/// The descriptors of a worker beside its socket.
enum { LIFELINE = TINTYPE_WORKER_SOCKET + 1, LIBRARY };

/// A filter of system calls (seccomp), written for the kernel's own interpreter.
struct tintype_filter {
    struct sock_filter steps[512];
    struct sock_fprog program;
};

/// Fills in the filter of a worker until it is confined: it can't reach other processes, and gets no rights, but may load
/// libraries and fonts.
void tintype_make_loading_filter(struct tintype_filter *filter);
/// Fills in the filter of a worker that decodes, which kills it at each call that decoding doesn't need.
/// - opens: 1 if files may be opened for reading, because Landlock decides which; 0 if opening a file is an error; -1 if a handler of
///   SIGSYS answers instead.
void tintype_make_decoding_filter(struct tintype_filter *filter, int opens);

/// Makes rules of Landlock for a worker that runs `file`, with a `library` unless it is -1, and with libraries from `folders`, a list with
/// colons: it reads libraries, fonts, and data of the system, and writes nothing. `rules` becomes -1 if the system has no Landlock. Returns
/// the number of an error, or zero.
int tintype_readable_files(int file, int library, const char *folders, int *rules);
/// Opens the files of all fonts that fontconfig knows, for a process that can't open files later.
void tintype_open_fonts(void);
/// Lets a handler of SIGSYS answer `openat`, for the files that are open already. Returns 0 if there are none.
int tintype_answer_opens(void);
