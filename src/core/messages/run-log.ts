import type { Catalogue } from "./message.ts";

const signal = "the signal's name";

/** Of a command's life: what `ebb run` does, and what `ebb wait` does when its time is over. */
export const runMessages = {
  "received a signal": { level: "debug", by: "run", fields: { signal } },
  "forwarded a signal": { level: "debug", by: "run", fields: { signal, pid: "the command's process" } },
  "dropped a signal: the command has not started yet": { level: "info", by: "run, wait", fields: { signal } },
  "started the command": {
    level: "info",
    by: "run",
    fields: { pid: "the command's process", command: "its first word" },
  },
  done: {
    level: "info",
    by: "run",
    fields: {
      waitedMs: "milliseconds from the start of the wait, with the search for sidecars, to the start of the command",
      "ranMs?": "milliseconds that the command ran",
      "drainedMs?": "milliseconds of the drain",
      "quitMs?": "milliseconds of the quits",
      "signal?": "the signal that ended the command",
      exitCode: "ebb's exit code",
    },
  },
  "kept the sidecars running": { level: "info", by: "run", fields: { reason: "the option that says so, and why" } },
  "the command ended and left processes in its group": {
    level: "info",
    by: "run",
    fields: { group: "the process group", graceMs: "milliseconds that they have to end" },
  },
  "the command ended and left processes: if they are the app, keep it in the foreground": {
    level: "warn",
    by: "run",
    fields: { processes: "their PIDs and names", how: "what to do" },
    cause:
      "The command ended with 0 by itself, and processes that it had started still run: a daemon puts itself into the background. For ebb the app has ended: it quits the sidecars and exits, and the container's end kills the processes.",
    cure: "Start the app in the foreground: celery without --detach, php-fpm -F, nginx -g 'daemon off;'; a script ends with exec APP. If the processes are not the app, end them before the command ends.",
  },
  "starting the command, although not ready in time": {
    level: "warn",
    by: "run",
    fields: { reason: "what is not ready, and why" },
    cause: "A sidecar was not ready within --wait-timeout, and --on-wait-timeout is start.",
    cure: "Read the reason: the last answer of each sidecar. Give it more time by --wait-timeout, or look why it does not start.",
  },
  "continuing, although not ready in time": {
    level: "warn",
    by: "wait",
    fields: { reason: "what is not ready, and why" },
    cause: "A sidecar or target was not ready within --wait-timeout, and --on-wait-timeout is start.",
    cure: "Read the reason. Raise --wait-timeout, or fix the target.",
  },
  "did not start the command: not ready in time": {
    level: "error",
    by: "run",
    fields: { reason: "what is not ready, and why" },
    cause: "A sidecar was not ready within --wait-timeout. ebb exits with 69.",
    cure: "connection refused: the sidecar is not in this pod (--sidecar none) or elsewhere (--admin URL). HTTP 503: it starts; raise --wait-timeout, and look at its log. To start the command all the same: --on-wait-timeout start.",
  },
  "the command did not start": {
    level: "error",
    by: "run",
    fields: { reason: "which command, and what is missing" },
    cause:
      "The file, its interpreter or its loader is not there (exit code 127), it cannot be executed (126), or the system has no process or memory left (71).",
    cure: "Do what the reason says: it names the file that is missing, the processor, or the mode. 71: raise the pod's limits.",
  },
  "cannot send a signal": {
    level: "warn",
    by: "run",
    fields: { signal, pid: "the process; below 0: the group", problem: "what the system said" },
    cause: "The kernel refused kill(2): the process has another user, or a security profile forbids it.",
    cure: "Run ebb and the command as the same user, or allow kill in the seccomp profile.",
  },
  "grace period over: sent SIGKILL to what is left of the command": {
    level: "warn",
    by: "run",
    fields: { graceMs: "milliseconds since the stop signal" },
    cause: "The command, or a process that it started, still ran when the time of --grace (or --pod-grace) was over.",
    cure: "Make the command end on the signal, or raise --grace, and terminationGracePeriodSeconds with it.",
  },
  "grace period over: cannot send SIGKILL to what is left of the command": {
    level: "warn",
    by: "run",
    fields: { graceMs: "milliseconds since the stop signal", problem: "what the system said" },
    cause:
      "The command still ran when the time of --grace was over, and the kernel refused kill(2): it has another user (a set-uid program), and ebb lacks the capability KILL.",
    cure: "Run the command as ebb's user, or add KILL to the container's capabilities.",
  },
  "the command still runs after SIGKILL: ending without it": {
    level: "warn",
    by: "run",
    fields: { pid: "the command's process" },
    cause:
      "The kernel has refused SIGKILL, as an earlier line says, or the command waits for a disk or a network file system. ebb quits the sidecars, and exits with 137.",
    cure: "The container's end ends the command. Do what the earlier line says, or look at the volumes that the command uses.",
  },
  "processes still run after SIGKILL": {
    level: "warn",
    by: "run",
    fields: { pids: "the processes", problems: "what the system said" },
    cause: "The kernel has not ended them yet (they wait for a disk or a network file system), or did not allow it.",
    cure: "The kubelet ends them with the container. If it happens often, look at the volumes that they use.",
  },
} as const satisfies Catalogue;
