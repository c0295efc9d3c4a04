#define _GNU_SOURCE
#include "Internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ ((uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR))

/// Libraries, fonts, and files that the C library reads; in containers of Flatpak too.
static const char *const places[] = {
    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/lib", "/lib64", "/usr/local/lib", "/app/lib", "/usr/share",
    "/usr/local/share/fonts", "/app/share", "/run/host/fonts", "/run/host/user-fonts", "/etc/fonts", "/var/cache/fontconfig",
    "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/dev/null", "/dev/zero", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo",
    "/proc/sys/vm", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
};

static void allow(int rules, int file, uint64_t access) {
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) return;
    if (!S_ISDIR(status.st_mode)) access &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = file};
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void allow_path(int rules, const char *path, uint64_t access) {
    int file = path && path[0] == '/' && path[1] ? open(path, O_PATH | O_CLOEXEC) : -1;
    if (file < 0) return;
    allow(rules, file, access);
    close(file);
}

/// The kernel executes a program together with its loader, which is among the objects.
static int allow_object(struct dl_phdr_info *info, size_t size, void *rules) {
    (void)size;
    allow_path(*(int *)rules, info->dlpi_name, READ | LANDLOCK_ACCESS_FS_EXECUTE);
    return 0;
}

enum { maximum_fonts = 4096 };
static char *fonts[maximum_fonts];
static size_t font_count;

/// Lists the files and directories of fontconfig, which depend on the user and the environment.
static void find_fonts(void) {
    // Not linked: a build without SVG and PDF has no fontconfig.
    void *library = dlopen("libfontconfig.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return;
    void *(*load)(void) = (void *(*)(void))dlsym(library, "FcInitLoadConfig");
    void (*destroy)(void *) = (void (*)(void *))dlsym(library, "FcConfigDestroy");
    char *(*next)(void *) = (char *(*)(void *))dlsym(library, "FcStrListNext");
    void (*done)(void *) = (void (*)(void *))dlsym(library, "FcStrListDone");
    void *settings = load && destroy && next && done ? load() : NULL;
    static const char *const lists[] = {"FcConfigGetFontDirs", "FcConfigGetCacheDirs", "FcConfigGetConfigFiles"};
    for (size_t i = 0; settings && i < sizeof lists / sizeof *lists; i++) {
        void *(*get)(void *) = (void *(*)(void *))dlsym(library, lists[i]);
        void *list = get ? get(settings) : NULL;
        for (char *path; list && font_count < maximum_fonts && (path = next(list));) fonts[font_count++] = strdup(path);
        if (list) done(list);
    }
    if (settings) destroy(settings);
    dlclose(library);
}

int tintype_readable_files(int file, int library, const char *folders, int *rules) {
    *rules = -1;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return 0;
    // All rights of the first version, and the rights added by later versions.
    struct {
        uint64_t files, network, scopes;
    } attributes = {.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    size_t size = sizeof attributes.files;
    if (version >= 2) attributes.files |= 1ull << 13;  // Moving and linking.
    if (version >= 3) attributes.files |= 1ull << 14;  // Truncating.
    if (version >= 5) attributes.files |= 1ull << 15;  // Commands to devices.
    if (version >= 4) attributes.network = 3, size = 2 * sizeof attributes.files;  // TCP.
    if (version >= 6) attributes.scopes = 3, size = sizeof attributes;  // Abstract sockets, and signals.
    int made = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (made < 0) return errno;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_fonts);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) allow_path(made, places[i], READ);
    for (size_t i = 0; i < font_count; i++) allow_path(made, fonts[i], READ);
    allow(made, file, READ | LANDLOCK_ACCESS_FS_EXECUTE);
    allow(made, library, READ);
    dl_iterate_phdr(allow_object, &made);
    char path[PATH_MAX];
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        if (length < sizeof path && snprintf(path, sizeof path, "%.*s", (int)length, folders) > 0) allow_path(made, path, READ);
        folders += length + (folders[length] == ':');
    }
    *rules = made;
    return 0;
}
