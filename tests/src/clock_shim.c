// Lets a test move the wall clock of a real server: preloaded into redis-server, it adds an offset in milliseconds,
// read from a mapped file, to every reading of the real-time clock. The monotonic clocks are left alone.
// (libfaketime cannot be used: it does not get along with jemalloc.)
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset_ms;

__attribute__((constructor)) static void open_offset(void) {
    const char *path = getenv("DTQ_TEST_CLOCK");
    if (!path) return;
    int fd = open(path, O_RDONLY);
    if (fd < 0) return;
    void *map = mmap(NULL, sizeof *offset_ms, PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) offset_ms = map;
    close(fd);
}

int clock_gettime(clockid_t id, struct timespec *ts) {
    int rc = (int)syscall(SYS_clock_gettime, id, ts);
    if (rc == 0 && offset_ms && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        int64_t ns = ts->tv_nsec + (*offset_ms % 1000) * 1000000;
        ts->tv_sec += *offset_ms / 1000 + ns / 1000000000;
        ts->tv_nsec = ns % 1000000000;
    }
    return rc;
}
int gettimeofday(struct timeval *tv, void *tz) {
    (void)tz;
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    tv->tv_sec = ts.tv_sec; tv->tv_usec = ts.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *out) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    if (out) *out = ts.tv_sec;
    return ts.tv_sec;
}
