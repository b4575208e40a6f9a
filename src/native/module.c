/*
 * The Node-API module that src/shared/native/native.ts types. Its functions take numbers, strings and typed arrays,
 * which TypeScript checks, and return a number, which is -errno if the call fails. In the static executable it is
 * linked in; in development it is dist/native.node.
 */
#include "native.h"
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#define NAPI_VERSION 8
#include <node_api.h>

#define MOST_ARGUMENTS 4

struct call {
  napi_env env;
  napi_value values[MOST_ARGUMENTS];
};

struct bytes {
  char *at;
  size_t length; /* in elements of the typed array */
};

static int integer(const struct call *call, int index) {
  int32_t value = 0;
  napi_get_value_int32(call->env, call->values[index], &value);
  return value;
}

static struct bytes bytes(const struct call *call, int index) {
  struct bytes found = {0};
  napi_get_typedarray_info(call->env, call->values[index], NULL, &found.length, (void **)&found.at, NULL, NULL);
  return found;
}

/* Reads a path argument; a path that is too long as an empty one, at which there is no file. */
static void path(const struct call *call, int index, char path[PATH_MAX]) {
  size_t length = 0;
  if (napi_get_value_string_utf8(call->env, call->values[index], path, PATH_MAX, &length) != napi_ok) path[0] = 0;
  if (length == PATH_MAX - 1) path[0] = 0;
}

static long or_errno(long result) { return result < 0 ? -errno : result; }

static long do_access(const struct call *call) {
  char name[PATH_MAX];
  path(call, 0, name);
  return or_errno(access(name, integer(call, 1)));
}

static long do_announce(const struct call *call) {
  char name[PATH_MAX];
  path(call, 0, name);
  return ebb_announce(name);
}

static long do_check_connect(const struct call *call) {
  char place[PATH_MAX];
  path(call, 0, place);
  return ebb_check_connect(place, integer(call, 1));
}

/* Reads a string argument as UTF-8, with a zero byte behind it. The caller frees it; NULL if there is no memory. */
static struct bytes text(const struct call *call, int index) {
  struct bytes found = {0};
  napi_get_value_string_utf8(call->env, call->values[index], NULL, 0, &found.length);
  found.at = malloc(found.length + 1);
  if (found.at == NULL) return (struct bytes){0};
  napi_get_value_string_utf8(call->env, call->values[index], found.at, found.length + 1, &found.length);
  return found;
}

/* A command line, and the memory behind it that has to be freed, if any. */
struct words {
  char **argv;
  char *made;
};

/* Returns ebb's own words from `index` on; if that is negative, those of the first argument, split at zero bytes. */
static struct words words(const struct call *call, int index) {
  if (index >= 0 && ebb_inherited.argv != NULL) return (struct words){.argv = ebb_inherited.argv + index};
  struct bytes all = text(call, 0);
  size_t count = 1, next = 0;
  for (size_t i = 0; i < all.length; i++) count += all.at[i] == 0;
  struct words made = {.argv = malloc((count + 1) * sizeof *made.argv), .made = all.at};
  if (made.argv == NULL || all.at == NULL) return (struct words){0};
  for (size_t i = 0; i < count; i++, next += strlen(all.at + next) + 1) made.argv[i] = all.at + next;
  made.argv[count] = NULL;
  return made;
}

static void free_words(struct words words) {
  if (words.made == NULL) return;
  free(words.argv);
  free(words.made);
}

static long do_exec(const struct call *call) {
  struct words line = words(call, integer(call, 1));
  if (line.argv == NULL) return -ENOMEM;
  int result = ebb_exec(line.argv[0], line.argv);
  if (result != -ENOEXEC) ebb_is_replaced = 0; /* otherwise the shell is tried next */
  free_words(line);
  return result;
}

static long do_exit(const struct call *call) { _exit(integer(call, 0)); }

static long do_foreground_group(const struct call *call) { return or_errno(tcgetpgrp(integer(call, 0))); }

static long do_group_of(const struct call *call) { return or_errno(getpgid(integer(call, 0))); }

static long do_hold_signals(const struct call *call) { return ebb_hold_signals((uint32_t)integer(call, 0)); }

static long do_is_terminal(const struct call *call) { return isatty(integer(call, 0)); }

static long do_kill(const struct call *call) { return or_errno(kill(integer(call, 0), integer(call, 1))); }

static long do_leave_folder(const struct call *call) {
  (void)call;
  if (ebb_inherited.folder >= 0) close(ebb_inherited.folder);
  ebb_inherited.folder = -1;
  return or_errno(chdir("/"));
}

static long do_listen(const struct call *call) {
  (void)call;
  ebb_listen();
  return 0;
}

static long do_lock(const struct call *call) {
  char name[PATH_MAX];
  path(call, 0, name);
  return ebb_lock(name, integer(call, 1));
}

/* gVisor shows no mount namespace; there each container's root is a device of its own. */
static long do_container(const struct call *call) {
  (void)call;
  struct stat status;
  if (stat("/proc/self/ns/mnt", &status) == 0) return (long)status.st_ino;
  return stat("/", &status) == 0 ? (long)status.st_dev : -errno;
}

static long do_next_signal(const struct call *call) {
  (void)call;
  return ebb_next_signal();
}

/* Opens a file to append to, without waiting for a reader. */
static long do_open_log(const struct call *call) {
  char name[PATH_MAX];
  path(call, 0, name);
  return or_errno(open(name, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC));
}

static long do_parent_death(const struct call *call) {
  ebb_parent_death(integer(call, 0));
  return 0;
}

static long do_read_record(const struct call *call) {
  char name[PATH_MAX];
  path(call, 0, name);
  struct bytes into = bytes(call, 1);
  return ebb_read_record(name, into.at, into.length, integer(call, 2));
}

static long do_reap(const struct call *call) {
  int *status = (int *)(void *)bytes(call, 0).at;
  pid_t pid;
  do pid = waitpid(-1, status, WNOHANG | WUNTRACED);
  while (pid < 0 && errno == EINTR); /* nothing else would try again */
  return or_errno(pid);
}

static long do_release_pages(const struct call *call) {
  (void)call;
  ebb_release_pages();
  return 0;
}

static long do_set_foreground_group(const struct call *call) {
  return or_errno(tcsetpgrp(integer(call, 0), integer(call, 1)));
}

static long do_spawn(const struct call *call) {
  struct words line = words(call, integer(call, 1));
  if (line.argv == NULL) return -ENOMEM;
  int result = ebb_spawn(line.argv[0], line.argv, integer(call, 2), (struct place *)(void *)bytes(call, 3).at);
  free_words(line);
  return result;
}

static long do_stop(const struct call *call) {
  (void)call;
  return ebb_stop();
}

static long do_suspend(const struct call *call) {
  (void)call;
  ebb_suspend();
  return 0;
}

static long do_unlock(const struct call *call) { return or_errno(close(integer(call, 0))); }

static long do_write(const struct call *call) {
  struct bytes all = text(call, 1);
  size_t from = integer(call, 2);
  if (all.at == NULL) return -ENOMEM;
  long result = from < all.length ? or_errno(ebb_write_now(integer(call, 0), all.at + from, all.length - from)) : 0;
  free(all.at);
  return result;
}

static long do_write_bytes(const struct call *call) {
  struct bytes all = bytes(call, 1);
  return or_errno(ebb_write_now(integer(call, 0), all.at, all.length));
}

static long do_write_record(const struct call *call) {
  struct bytes all = bytes(call, 1);
  return ebb_write_record(integer(call, 0), all.at, all.length);
}

/* Calls the function that `data` points to, and returns its number. */
static napi_value returning_number(napi_env env, napi_callback_info info) {
  struct call call = {.env = env};
  size_t count = MOST_ARGUMENTS;
  void *data;
  napi_value result = NULL;
  napi_get_cb_info(env, info, &count, call.values, NULL, &data);
  napi_create_int64(env, ((long (*)(const struct call *))data)(&call), &result);
  return result;
}

/* Returns a file's text, in which bytes that are not UTF-8 become U+FFFD, or minus errno. */
static napi_value read_file(napi_env env, napi_callback_info info) {
  struct call call = {.env = env};
  size_t count = 2;
  char name[PATH_MAX];
  napi_value result = NULL;
  napi_get_cb_info(env, info, &count, call.values, NULL, NULL);
  path(&call, 0, name);
  struct contents contents = ebb_read_file(name, integer(&call, 1));
  if (contents.at == NULL) napi_create_int32(env, -errno, &result);
  else napi_create_string_utf8(env, contents.at, contents.length, &result);
  ebb_free_contents(contents);
  return result;
}

/* Returns the listening sockets in lines as /proc/net/tcp has them; undefined if the kernel does not tell. */
static napi_value listeners(napi_env env, napi_callback_info info) {
  (void)info;
  napi_value result = NULL;
  struct contents lines = ebb_listeners();
  if (lines.at != NULL) napi_create_string_latin1(env, lines.at, lines.length, &result);
  ebb_free_contents(lines);
  return result;
}

static const struct {
  const char *name;
  long (*run)(const struct call *);
} functions[] = {
    {"access", do_access},
    {"announce", do_announce},
    {"checkConnect", do_check_connect},
    {"container", do_container},
    {"exec", do_exec},
    {"exit", do_exit},
    {"foregroundGroup", do_foreground_group},
    {"groupOf", do_group_of},
    {"holdSignals", do_hold_signals},
    {"isTerminal", do_is_terminal},
    {"kill", do_kill},
    {"leaveFolder", do_leave_folder},
    {"listen", do_listen},
    {"lock", do_lock},
        {"nextSignal", do_next_signal},
    {"openLog", do_open_log},
    {"parentDeath", do_parent_death},
    {"readRecord", do_read_record},
    {"reap", do_reap},
    {"releasePages", do_release_pages},
    {"setForegroundGroup", do_set_foreground_group},
    {"spawn", do_spawn},
    {"stop", do_stop},
    {"suspend", do_suspend},
    {"unlock", do_unlock},
    {"write", do_write},
    {"writeBytes", do_write_bytes},
    {"writeRecord", do_write_record},
};
#define COUNT (sizeof functions / sizeof *functions)

NAPI_MODULE_INIT() {
  napi_property_descriptor properties[COUNT + 2] = {
      {.utf8name = "listeners", .method = listeners, .attributes = napi_enumerable},
      {.utf8name = "readFile", .method = read_file, .attributes = napi_enumerable},
  };
  for (size_t i = 0; i < COUNT; i++) {
    properties[i + 2] = (napi_property_descriptor){
        .utf8name = functions[i].name,
        .method = returning_number,
        .data = (void *)functions[i].run,
        .attributes = napi_enumerable,
    };
  }
  napi_define_properties(env, exports, COUNT + 2, properties);
  return exports;
}
