// Fonts on kernels without Landlock. A filter of system calls can't read names of files, so no file may be opened. The files of fonts are
// opened before the filter closes, and a signal handler answers requests for them with copies of these descriptors.
#define _GNU_SOURCE
#include "Internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/// A set of fonts of fontconfig.
struct font_set {
    int count, capacity;
    void **fonts;
};

struct font_file {
    char *path;
    int descriptor;
};

enum { maximum_files = 4096, first_descriptor = 64 };
static struct font_file files[maximum_files];
static size_t file_count;

static int compare(const void *left, const void *right) {
    return strcmp(((const struct font_file *)left)->path, ((const struct font_file *)right)->path);
}

/// Opens a font file, with a number that the limit of descriptors leaves to others.
static void open_file(const char *path) {
    int low = open(path, O_RDONLY | O_CLOEXEC);
    if (low < 0) return;
    int descriptor = fcntl(low, F_DUPFD_CLOEXEC, first_descriptor);
    close(low);
    char *copy = descriptor < 0 ? NULL : strdup(path);
    if (copy) files[file_count++] = (struct font_file){copy, descriptor};
}

void tintype_open_fonts(void) {
    // Not linked: a build without SVG and PDF has no fontconfig.
    struct font_set *(*fonts)(void *, int) = (struct font_set * (*)(void *, int)) dlsym(RTLD_DEFAULT, "FcConfigGetFonts");
    int (*string)(void *, const char *, int, char **) =
        (int (*)(void *, const char *, int, char **))dlsym(RTLD_DEFAULT, "FcPatternGetString");
    // 0: the fonts of the system, with the user's.
    struct font_set *set = fonts && string ? fonts(NULL, 0) : NULL;
    if (!set) return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) setrlimit(RLIMIT_NOFILE, &(struct rlimit){limit.rlim_max, limit.rlim_max});
    const char *last = NULL;
    for (int i = 0; i < set->count && file_count < maximum_files; i++) {
        char *path = NULL;
        // The fonts of a collection follow each other.
        if (string(set->fonts[i], "file", 0, &path) || (last && strcmp(last, path) == 0)) continue;
        open_file(path);
        last = path;
    }
    qsort(files, file_count, sizeof *files, compare);
}

#if defined(__x86_64__)
#define ARGUMENT_PATH(context) ((context)->uc_mcontext.gregs[REG_RSI])
#define ARGUMENT_FLAGS(context) ((context)->uc_mcontext.gregs[REG_RDX])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARGUMENT_PATH(context) ((context)->uc_mcontext.regs[1])
#define ARGUMENT_FLAGS(context) ((context)->uc_mcontext.regs[2])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

/// Answers `openat`. Only calls that are safe in a signal handler are made.
static void answer(int number, siginfo_t *info, void *argument) {
    (void)number;
    (void)info;
    ucontext_t *context = argument;
    int reason = errno;
    struct font_file wanted = {(char *)(uintptr_t)ARGUMENT_PATH(context), -1}, *found = NULL;
    if ((ARGUMENT_FLAGS(context) & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY)
        found = bsearch(&wanted, files, file_count, sizeof *files, compare);
    // The copies of a descriptor share its position. Fonts are mapped, or read at places.
    int copy = found ? (int)syscall(SYS_fcntl, found->descriptor, F_DUPFD_CLOEXEC, 0) : -1;
    RESULT(context) = copy >= 0 ? copy : found ? -errno : -EACCES;
    errno = reason;
}

int tintype_answer_opens(void) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_RESTART};
    return file_count > 0 && sigaction(SIGSYS, &action, NULL) == 0;
}
