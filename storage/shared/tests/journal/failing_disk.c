/* Preloaded into a database server: syncs and writes of its log fail while a file says so, as they do on a disk that fails or
 * is full. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int file, const char *fault) {
    const char *place = getenv("TILL_FAILING_DISK");
    char link[64], path[4096], sign[4096];
    if (place == NULL) return 0;
    snprintf(sign, sizeof sign, "%s/%s", place, fault);
    if (access(sign, F_OK) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, "/pg_wal/") != NULL;
}

int fdatasync(int file) {
    int (*sync)(int) = dlsym(RTLD_NEXT, "fdatasync");
    if (!fails(file, "sync")) return sync(file);
    errno = EIO;
    return -1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    ssize_t (*write)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    if (!fails(file, "full")) return write(file, bytes, count, at);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    ssize_t (*write)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (!fails(file, "full")) return write(file, bytes, count, at);
    errno = ENOSPC;
    return -1;
}
