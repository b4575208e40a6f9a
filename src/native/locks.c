/*
 * The lock and the record by which the app containers of a pod know of each other (src/pod/run/peers.ts). flock(2)
 * works on descriptors that may only read, and in gVisor, where OFD locks do not.
 */
#include "native.h"
#include <sys/file.h>
#include <sys/stat.h>

/* What another container has put there is neither followed nor waited for. */
#define ANY_FILE (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static long closing(int descriptor, long result) {
  close(descriptor);
  return result;
}

/* Opens ebb's own record, or makes it, readable to the users of other containers whatever the umask is. */
static int open_own(const char *path) {
  int descriptor = open(path, O_RDWR | O_CREAT | ANY_FILE, 0644);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return descriptor;
  if (S_ISREG(status.st_mode)) {
    fchmod(descriptor, 0644); /* where another user has made it, it is as that one left it */
    return descriptor;
  }
  close(descriptor);
  errno = ENOTSUP;
  return -1;
}

/*
 * Locks a folder or, if `is_own`, ebb's own record, for ebb alone, without waiting. Returns the descriptor that holds
 * the lock, -EAGAIN if another has it, or minus errno.
 */
long ebb_lock(const char *path, int is_own) {
  int descriptor = is_own ? open_own(path) : open(path, O_RDONLY | O_DIRECTORY | ANY_FILE);
  if (descriptor < 0) return -errno;
  return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? descriptor : closing(descriptor, -errno);
}

/* Writes a record in place. Returns its length, or minus errno. */
long ebb_write_record(int descriptor, const char *at, size_t length) {
  ssize_t written = pwrite(descriptor, at, length, 0);
  if (written < 0) return -errno;
  return (size_t)written == length ? written : -ENOSPC;
}

/*
 * Reads the first bytes of a record, and then tests its lock: what was read while its owner held the lock is not taken
 * for what a dead owner has left. Returns how many bytes there are, plus LOCKED if another holds the lock, or minus
 * errno. If `own` is a descriptor, the record must be its file (else -EXDEV).
 */
long ebb_read_record(const char *path, char *at, size_t length, int own) {
  int descriptor = open(path, O_RDONLY | ANY_FILE);
  struct stat status, other;
  if (descriptor < 0) return -errno;
  if (fstat(descriptor, &status) != 0) return closing(descriptor, -errno);
  if (!S_ISREG(status.st_mode)) return closing(descriptor, -ENOTSUP);
  if (own >= 0 && (fstat(own, &other) != 0 || status.st_dev != other.st_dev || status.st_ino != other.st_ino))
    return closing(descriptor, -EXDEV);
  ssize_t count = pread(descriptor, at, length, 0);
  if (count < 0) return closing(descriptor, -errno);
  if (flock(descriptor, LOCK_SH | LOCK_NB) == 0) return closing(descriptor, count);
  return closing(descriptor, errno == EWOULDBLOCK ? count + LOCKED : -errno);
}
