/*
 * Lists the listening TCP sockets by sock_diag(7): the kernel then looks through listening sockets alone, in 0.02 ms.
 * For /proc/net/tcp it looks through all sockets that the machine may have, 2 ms and more, each time. musl has no
 * kernel headers, so the ABI is written here.
 */
#include "native.h"
#include <stdio.h>
#include <stdlib.h>

#define NETLINK_SOCK_DIAG 4
#define SOCK_DIAG_BY_FAMILY 20
#define DUMP (1 | 0x300) /* NLM_F_REQUEST | NLM_F_DUMP */
#define DIAG_DONE 3
#define TCP_LISTEN 10
#define MOST_LINE 96

struct header {
  uint32_t length;
  uint16_t type, flags;
  uint32_t sequence, port;
};

struct socket_id {
  uint16_t port, other_port; /* big-endian */
  uint32_t address[4], other[4];
  uint32_t interface, cookie[2];
};

struct request {
  struct header header;
  uint8_t family, protocol, extensions, padding;
  uint32_t states;
  struct socket_id id;
};

struct answer {
  uint8_t family, state, timer, retransmits;
  struct socket_id id;
};

/*
 * Writes a line as /proc/net/tcp and tcp6 have it, with the fields of a listening socket. Returns its length.
 */
static int write_line(char *to, const struct answer *answer) {
  const uint32_t *address = answer->id.address;
  unsigned port = (uint16_t)(answer->id.port << 8 | answer->id.port >> 8);
  if (answer->family == AF_INET) return sprintf(to, "0: %08X:%04X 00000000:0000 0A \n", address[0], port);
  return sprintf(to, "0: %08X%08X%08X%08X:%04X 0:0000 0A \n", address[0], address[1], address[2], address[3], port);
}

static int ask(int descriptor, int family) {
  struct request request = {
      .header = {.length = sizeof request, .type = SOCK_DIAG_BY_FAMILY, .flags = DUMP},
      .family = family,
      .protocol = IPPROTO_TCP,
      .states = 1 << TCP_LISTEN,
  };
  return send(descriptor, &request, sizeof request, 0) == (ssize_t)sizeof request;
}

/*
 * Appends a line for each socket that the kernel has told. Returns 1 at the end, 0 if more comes, -1 if it cannot go
 * on.
 */
static int take(const char *told, size_t length, struct contents *lines, size_t *room) {
  struct header header;
  for (size_t at = 0; at + sizeof header <= length; at += (header.length + 3) & ~3u) {
    memcpy(&header, told + at, sizeof header);
    if (header.type == DIAG_DONE) return 1;
    if (header.type != SOCK_DIAG_BY_FAMILY || header.length < sizeof header + sizeof(struct answer)) return -1;
    if (lines->length + MOST_LINE > *room) {
      char *more = realloc(lines->at, *room += 64 * MOST_LINE);
      if (more == NULL) return -1;
      lines->at = more;
    }
    struct answer answer;
    memcpy(&answer, told + at + sizeof header, sizeof answer);
    lines->length += write_line(lines->at + lines->length, &answer);
  }
  return 0;
}

/*
 * Returns the lines of all listening TCP sockets; without an address if the kernel does not tell, or a seccomp profile
 * forbids it.
 */
struct contents ebb_listeners(void) {
  struct contents lines = {0};
  size_t room = 0;
  char told[16 * 1024];
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), is_over = descriptor < 0 ? -1 : 1;
  for (int family = AF_INET; is_over == 1 && family != 0; family = family == AF_INET ? AF_INET6 : 0) {
    is_over = ask(descriptor, family) ? 0 : -1;
    while (is_over == 0) {
      ssize_t length = recv(descriptor, told, sizeof told, 0);
      is_over = length <= 0 ? -1 : take(told, length, &lines, &room);
    }
  }
  if (descriptor >= 0) close(descriptor);
  if (is_over == 1 && lines.at == NULL) lines.at = malloc(1);
  if (is_over == 1) return lines;
  free(lines.at);
  return (struct contents){0};
}
