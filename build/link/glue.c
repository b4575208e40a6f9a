/*
 * What musl's libc.a and GCC's libstdc++.a lack to serve an executable that was linked against their shared forms.
 * Compiled against musl's headers and linked into the runtime by runtime.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What Debian's libstdc++.a and libgcc_eh.a, built for glibc, expect of libc ---- */

/* glibc sets this while there is one thread only, to skip atomics; 0 is always right. */
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

/* crtbegin.o, which is not linked, would define it: the identity of this image for __cxa_atexit. */
extern void *__dso_handle;
void *__dso_handle = 0;

/* libstdc++'s random_device; musl has no arc4random. */
uint32_t arc4random(void);
uint32_t arc4random(void) {
  uint32_t value;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}

/* glibc's <dlfcn.h>, struct dl_find_object, on architectures without dlfo_eh_dbase (x86-64, aarch64). */
struct found_object {
  unsigned long long flags;
  const void *start, *end;
  void *link_map;
  const void *frames;
  unsigned long long reserved[7];
};

/* The linker script defines the addresses of this runtime and of the executable, and of their frame tables. */
extern const char ebb_runtime_start[], ebb_runtime_end[], ebb_runtime_frames[];
extern const char ebb_image_start[], ebb_image_end[];
extern const char ebb_image_frames[] __attribute__((weak));

/*
 * Finds the frame table of a code address for libgcc's unwinder. PT_GNU_EH_FRAME can name one table only, and there are
 * two. An exception that libstdc++ throws unwinds up to Bun's frames, finds no handler there and ends in
 * std::terminate, as in the dynamically linked executable.
 */
int _dl_find_object(const void *address, struct found_object *found);
int _dl_find_object(const void *address, struct found_object *found) {
  const char *at = address;
  if (at >= ebb_runtime_start && at < ebb_runtime_end) {
    *found = (struct found_object){.start = ebb_runtime_start, .end = ebb_runtime_end, .frames = ebb_runtime_frames};
    return 0;
  }
  if (ebb_image_frames && at >= ebb_image_start && at < ebb_image_end) {
    *found = (struct found_object){.start = ebb_image_start, .end = ebb_image_end, .frames = ebb_image_frames};
    return 0;
  }
  return -1;
}

/* ---- The executable's own initialisers and finalisers, after and before those of the runtime ---- */

typedef void (*procedure)(void);
extern const procedure ebb_image_init_start[], ebb_image_init_end[];
extern const procedure ebb_image_fini_start[], ebb_image_fini_end[];

static void run_image_initialisers(void) {
  for (const procedure *each = ebb_image_init_start; each < ebb_image_init_end; each++) (*each)();
}

static void run_image_finalisers(void) {
  for (const procedure *each = ebb_image_fini_end; each > ebb_image_fini_start;) (*--each)();
}

__attribute__((section(".init_array.ebb_image"), used)) static const procedure image_init = run_image_initialisers;
__attribute__((section(".fini_array.ebb_image"), used)) static const procedure image_fini = run_image_finalisers;

/* ---- process.dlopen for the one Node-API module, which is linked in (src/native/module.c) ---- */

/* Weak, so that other executables can be linked without it. */
void napi_register_module_v1(void) __attribute__((weak));
void node_api_module_get_api_version_v1(void) __attribute__((weak));

#define ENTRY(name) {#name, (void *)name}
static const struct {
  const char *name;
  void *address;
} functions[] = {ENTRY(napi_register_module_v1), ENTRY(node_api_module_get_api_version_v1)};

static _Thread_local char failure[160];
static _Thread_local int failed;

static void *fail(const char *what, const char *name) {
  snprintf(failure, sizeof failure, "%s: %s: not in this static executable", what, name);
  failed = 1;
  return 0;
}

/* Opens that module or the program itself (a null path); fails for any other. */
void *dlopen(const char *path, int mode) {
  (void)mode;
  if (!path) return (void *)functions;
  const char *slash = strrchr(path, '/');
  return strcmp(slash ? slash + 1 : path, "native.node") == 0 ? (void *)functions : fail("dlopen", path);
}

void *dlsym(void *restrict handle, const char *restrict name) {
  (void)handle;
  for (size_t each = 0; each < sizeof functions / sizeof *functions; each++)
    if (functions[each].address && strcmp(functions[each].name, name) == 0) return functions[each].address;
  return fail("dlsym", name);
}

int dlclose(void *handle) {
  (void)handle;
  return 0;
}

char *dlerror(void) {
  if (!failed) return 0;
  failed = 0;
  return failure;
}
