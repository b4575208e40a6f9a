/*
 * Whether somebody listens, and what they say, at a tenth of what Bun.connect costs; and unlike that, it leaves nothing behind
 * where nobody answers.
 */
#include "native.h"
#include <arpa/inet.h>
#include <poll.h>

/* What connects without waiting. */
int ebb_local_address(const char *place, int port, union ebb_address *address) {
  *address = (union ebb_address){0};
  if (*place == '/') {
    address->any.sa_family = AF_UNIX;
    if (strlen(place) >= sizeof address->unix_.sun_path) return -ENAMETOOLONG;
    memcpy(address->unix_.sun_path, place, strlen(place));
    return sizeof address->unix_;
  }
  address->v4.sin_port = htons(port); /* sin6_port is at the same place */
  address->any.sa_family = AF_INET;
  if (inet_pton(AF_INET, place, &address->v4.sin_addr) == 1)
    return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? (int)sizeof address->v4 : -EADDRNOTAVAIL;
  address->any.sa_family = AF_INET6;
  if (inet_pton(AF_INET6, place, &address->v6.sin6_addr) != 1) return -EADDRNOTAVAIL;
  return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr) ? (int)sizeof address->v6 : -EADDRNOTAVAIL;
}

static int pending_error(int descriptor) {
  int error = 0;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof error});
  if (error != 0) return error;
  struct pollfd polled = {.fd = descriptor, .events = POLLOUT};
  return poll(&polled, 1, 0) == 0 ? EINPROGRESS : 0;
}

/* A connection, or minus errno. */
static int connect_to(const char *place, int port) {
  union ebb_address address;
  int size = ebb_local_address(place, port, &address);
  if (size < 0) return size;
  int descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  int error = connect(descriptor, &address.any, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = pending_error(descriptor);
  if (error == 0) return descriptor;
  close(descriptor);
  return -error;
}

/*
 * What connect(2) without waiting says: 0, or minus errno. -ECONNREFUSED: nobody listens; -EINPROGRESS: somebody listens, but
 * accepts nothing, and has its queue full (a unix socket says -EAGAIN); -EADDRNOTAVAIL: not a place that answers at once.
 */
int ebb_check_connect(const char *place, int port) {
  int descriptor = connect_to(place, port);
  if (descriptor < 0) return descriptor;
  close(descriptor);
  return 0;
}

/* A connection over which the request was sent, or minus errno. */
int ebb_ask(const char *place, int port, const char *request, size_t length) {
  int descriptor = connect_to(place, port);
  if (descriptor < 0 || send(descriptor, request, length, MSG_NOSIGNAL) == (ssize_t)length) return descriptor;
  close(descriptor);
  return -EAGAIN;
}

/* What comes next, within so long: its length, 0 where nothing more will come, or -EAGAIN. */
ssize_t ebb_receive(int descriptor, int within_ms, char *buffer, size_t room) {
  struct pollfd polled = {.fd = descriptor, .events = POLLIN};
  poll(&polled, 1, within_ms);
  ssize_t length = recv(descriptor, buffer, room, 0);
  return length >= 0 ? length : errno == EAGAIN ? -EAGAIN : 0;
}
