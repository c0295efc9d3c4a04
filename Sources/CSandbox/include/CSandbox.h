// The sandbox of a process that decodes: the limits that it has from then on, even if an image takes it over.
#ifndef TINTYPE_CSANDBOX_H
#define TINTYPE_CSANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include <CIsolation.h>

/// Finds the program that started this process, and has the other end of a socket.
void tintype_find_program(int socket);
/// Ends this process when the program that was found ends, or closes its end of the socket. Starts a thread, so that the sandbox has to be closed
/// before. Returns 0, or -1 with `errno`.
int tintype_follow_program(void);
/// Waits for the ends of threads that libraries have started, for ten seconds at most: Landlock wouldn't confine them. Returns 0, or -1.
int tintype_await_threads(void);
/// Ends this process with the status `TINTYPE_OUT_OF_MEMORY` if it crashes when less than an eighth of its memory is left, as libraries do that get
/// none.
void tintype_explain_crashes(uint64_t memory);
/// Limits the memory, the processor time, and the number of open files, and turns core dumps off. Returns 0, or -1 with `errno`.
int tintype_limit_resources(uint64_t memory, uint64_t seconds);
/// Loads the settings of fontconfig, and returns the number of directories that it reads fonts and caches from. The caller frees the paths.
size_t tintype_font_directories(char **directories, size_t count);
/// Makes all files inaccessible, except for reading those below the directories of a list that ends with NULL.
/// Returns 1, 0 if the kernel has no Landlock, or -1 with `errno`. Without Landlock, it opens the fonts that are known.
int tintype_restrict_files(const char *const *directories);
/// Ends the process with SIGSYS at each system call that decoding doesn't need. Files are opened only for reading; if `opens` is 0, only the
/// fonts that are open already. Returns 0, or -1 with `errno`.
int tintype_restrict_calls(int opens);

#endif
