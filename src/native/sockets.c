/*
 * Tells whether a place in this pod has a listener, at a tenth of what Bun.connect costs; and tells the pod's other
 * containers of this ebb.
 */
#include "native.h"
#include <arpa/inet.h>
#include <poll.h>
#include <stddef.h>
#include <sys/un.h>

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un unix_;
};

/* Parses a loopback address, or the path of a Unix socket. Returns the address's length, or minus errno. */
static int local_address(const char *place, int port, union address *address) {
  *address = (union address){0};
  if (*place == '/') {
    address->any.sa_family = AF_UNIX;
    if (strlen(place) >= sizeof address->unix_.sun_path) return -ENAMETOOLONG;
    memcpy(address->unix_.sun_path, place, strlen(place));
    return sizeof address->unix_;
  }
  address->v4.sin_port = htons(port); /* sin6_port is at the same place */
  address->any.sa_family = AF_INET;
  if (inet_pton(AF_INET, place, &address->v4.sin_addr) == 1)
    return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? (int)sizeof address->v4 : -ENOTSUP;
  address->any.sa_family = AF_INET6;
  if (inet_pton(AF_INET6, place, &address->v6.sin6_addr) != 1) return -ENOTSUP;
  return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr) ? (int)sizeof address->v6 : -ENOTSUP;
}

/* Linux answers a connection to loopback at once, gVisor within a tenth of this, in ms. */
#define ANSWER_MS 1

static int pending_error(int descriptor) {
  int error = 0;
  struct pollfd polled = {.fd = descriptor, .events = POLLOUT};
  if (poll(&polled, 1, ANSWER_MS) == 0) return EINPROGRESS;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof error});
  return error;
}

/*
 * Tries connect(2), waits for at most 1 ms (ANSWER_MS), and closes the connection. Returns 0 if it is accepted;
 * -ECONNREFUSED without a listener; -EINPROGRESS if packets are dropped, mostly because the listener's queue is full
 * (for a Unix socket -EAGAIN); -ENOTSUP for a place that would not answer at once.
 */
int ebb_check_connect(const char *place, int port) {
  union address address;
  int size = local_address(place, port, &address);
  if (size < 0) return size;
  int descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  int error = connect(descriptor, &address.any, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = pending_error(descriptor);
  close(descriptor);
  return -error;
}

/*
 * Binds an abstract Unix socket, whose name /proc/net/unix shows to all of this network namespace until ebb has ended,
 * however it ends. Returns its descriptor, which the child does not get, or minus errno.
 */
int ebb_announce(const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  if (length >= sizeof address.sun_path) return -ENAMETOOLONG;
  memcpy(address.sun_path + 1, name, length);
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  if (bind(descriptor, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + length) == 0)
    return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}
