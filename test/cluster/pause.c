/* The process that owns the namespaces of a pod's containers: it waits, and reaps if they share its PID namespace. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int number) { _exit(number == SIGTERM || number == SIGINT ? 0 : 1); }

static void reap(int number) {
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) continue;
}

int main(void) {
  signal(SIGTERM, end);
  signal(SIGINT, end);
  signal(SIGCHLD, reap);
  for (;;) pause();
}
