// The files that a worker may read.
#ifndef TINTYPE_READABLEFILES_H
#define TINTYPE_READABLEFILES_H

/// Makes rules of Landlock for a worker that runs `file`, with a `library` unless it is -1, and with libraries from `folders`, a list with
/// colons: it reads libraries, fonts, and data of the system, and writes nothing. `rules` becomes -1 if the system has no Landlock. Returns
/// the number of an error, or zero.
int tintype_readable_files(int file, int library, const char *folders, int *rules);

#endif
