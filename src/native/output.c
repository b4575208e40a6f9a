/*
 * Writes without waiting for a reader. The app shares these descriptors, so none of them is ever made O_NONBLOCK
 * itself.
 */
#include "native.h"
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

/*
 * Opens the same pipe or terminal once more, so that only the new descriptor does not wait, and returns that. Returns
 * -1 without /proc, or if ebb may not open it.
 */
static int reopened(int descriptor) {
  static int opened[3] = {-2, -2, -2};
  if (descriptor > 2) return -1;
  if (opened[descriptor] == -2) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    opened[descriptor] = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  return opened[descriptor];
}

/* Writes if poll(2) says that the pipe takes PIPE_BUF bytes at once. Another writer may still be faster. */
static ssize_t write_polled(int descriptor, const char *at, size_t length) {
  struct pollfd polled = {.fd = descriptor, .events = POLLOUT};
  if (poll(&polled, 1, 0) != 0) return write(descriptor, at, length < PIPE_BUF ? length : PIPE_BUF);
  errno = EAGAIN;
  return -1;
}

/*
 * Writes the bytes that go at once, and returns their number; -1 with EAGAIN if none does. Pipes of pipe(2) know
 * RWF_NOWAIT since Linux 6.4 (fs/pipe.c, FMODE_NOWAIT); named ones, reopened ones and terminals do not. A file is
 * written as usual: its offset may be the app's, too.
 */
ssize_t ebb_write_now(int descriptor, const char *at, size_t length) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return -1;
  if (S_ISSOCK(status.st_mode)) return send(descriptor, at, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return write(descriptor, at, length);
  struct iovec all = {(void *)at, length};
  ssize_t written = syscall(SYS_pwritev2, descriptor, &all, 1L, -1L, -1L, RWF_NOWAIT);
  if (written >= 0 || errno == EAGAIN || errno == EPIPE || errno == EBADF) return written;
  int own = reopened(descriptor);
  return own >= 0 ? write(own, at, length) : write_polled(descriptor, at, length);
}
