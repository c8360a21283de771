/* A disk that fails on command, loaded in front of the C library (LD_PRELOAD).
 *
 * The environment variable FAULTY_DISK names a file. While that file holds "WHAT ERRNO", calls of that kind on files of the
 * store fail with this error: WHAT is `write` (as on a disk that turned read-only) or `sync` (as on one that loses what was
 * written). While it is empty or missing, everything passes. Sockets and other files are left alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static const char STORE[] = "/messenger.sqlite3";

/* The error with which such a call fails now, or 0. */
static int fault(const char *kind) {
    const char *control = getenv("FAULTY_DISK");
    if (control == NULL) return 0;
    int file = open(control, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[32] = "";
    /* Not by way of `read` of this library's: nothing here may call itself. */
    ssize_t length = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    char what[8] = "";
    int error = 0;
    if (length <= 0 || sscanf(text, "%7s %d", what, &error) != 2) return 0;
    return strcmp(what, kind) == 0 ? error : 0;
}

static int is_of_the_store(int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    return strstr(path, STORE) != NULL;
}

static int fails(const char *kind, int descriptor) {
    int before = errno;
    int error = is_of_the_store(descriptor) ? fault(kind) : 0;
    errno = error != 0 ? error : before;
    return error != 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *from, size_t length) {
    return fails("write", descriptor) ? -1 : syscall(SYS_write, descriptor, from, length);
}

ssize_t pwrite(int descriptor, const void *from, size_t length, off_t at) {
    return fails("write", descriptor) ? -1 : REAL(pwrite)(descriptor, from, length, at);
}

ssize_t pwrite64(int descriptor, const void *from, size_t length, off64_t at) {
    return fails("write", descriptor) ? -1 : REAL(pwrite64)(descriptor, from, length, at);
}

int ftruncate(int descriptor, off_t length) {
    return fails("write", descriptor) ? -1 : REAL(ftruncate)(descriptor, length);
}

int ftruncate64(int descriptor, off64_t length) {
    return fails("write", descriptor) ? -1 : REAL(ftruncate64)(descriptor, length);
}

int fsync(int descriptor) {
    return fails("sync", descriptor) ? -1 : REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
    return fails("sync", descriptor) ? -1 : REAL(fdatasync)(descriptor);
}
