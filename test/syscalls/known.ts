import type { Ended } from "../harness/ebb.ts";
import type { Point } from "./points.ts";

interface Known {
  readonly call: string;
  readonly reason: string;
  readonly isIt: (point: Point, ended: Ended) => boolean;
}

const known: readonly Known[] = [
  ...["mmap", "arch_prctl"].map((call) => ({
    call,
    reason: "libc's own start: it ends with SIGSEGV, before anybody can say a word",
    isIt: ({ role, count }: Point, { code }: Ended) => role === "main" && count === 1 && code === 139,
  })),
  {
    call: "kill",
    reason:
      "nobody can forward a signal to an app that must not be signalled; ebb says so, and --grace does not help either",
    isIt: ({ error }, { stderr }) => error === "EPERM" && stderr.includes("cannot send a signal"),
  },
  {
    call: "rt_sigaction",
    reason:
      "Bun's handler of SIGCHLD, without which ebb does not see the app's end; the kernel refuses it to nobody, and with a seccomp profile that refuses these calls Bun aborts at its start",
    isIt: ({ role }, { code }) => role === "main" && code === 137,
  },
  {
    call: "setpgid",
    reason: "the app stays in ebb's process group, and runs; the kernel itself refuses it to no child",
    isIt: ({ role }, { code }) => role === "child" && code === 10,
  },
];

/** Says why a failure at this point is not ebb's to mend; undefined if it is. */
export function knownTo(point: Point, ended: Ended): string | undefined {
  return known.find((each) => each.call === point.call && each.isIt(point, ended))?.reason;
}
