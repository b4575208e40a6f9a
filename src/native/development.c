/*
 * The stand-in for before-bun.c and limits.c in development, when Bun has started before, and has changed most of it.
 */
#include "native.h"

extern char **environ;

static int standard[] = {0, 1, 2};

struct inherited ebb_inherited = {.folder = -1, .descriptor_count = 3, .descriptors = standard};

__attribute__((constructor)) static void note(void) {
  ebb_inherited.environ = environ;
  ebb_inherited.parent = getppid();
}
