/* Whether somebody listens, at a tenth of what Bun.connect costs; and unlike that, it leaves nothing behind where nobody answers. */
#include "native.h"
#include <poll.h>

static int pending_error(int descriptor) {
  int error = 0;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof error});
  if (error != 0) return error;
  struct pollfd polled = {.fd = descriptor, .events = POLLOUT};
  return poll(&polled, 1, 0) == 0 ? EINPROGRESS : 0;
}

/*
 * What connect(2) without waiting says: 0, or minus errno. Loopback answers at once: -ECONNREFUSED, nobody listens; -EINPROGRESS,
 * somebody listens, but accepts nothing, and has its queue full (a unix socket says -EAGAIN).
 */
int ebb_check_connect(const struct sockaddr *address, socklen_t size) {
  int descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  int error = connect(descriptor, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = pending_error(descriptor);
  close(descriptor);
  return -error;
}
