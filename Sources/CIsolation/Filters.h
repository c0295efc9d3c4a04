// Filters of system calls (seccomp), written for the kernel's own interpreter.
#ifndef TINTYPE_FILTERS_H
#define TINTYPE_FILTERS_H

#include <linux/filter.h>

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

#endif
