import { usualStops } from "../../../core/signal.ts";
import { list, option, optional } from "../option.ts";
import { boolean, duration, exitCodes, parentDeath, rewrite, stopSignals } from "../syntax.ts";

/** The command, its signals and its end. */
export const child = {
  grace: optional({
    flag: "grace",
    group: "child",
    value: "D",
    syntax: duration,
    isAnnotation: true,
    help: "send SIGKILL to what is left of the command this long after its stop signal",
  }),
  stopSignal: option({
    flag: "stop-signal",
    group: "child",
    value: "NAME[,NAME]",
    initial: usualStops,
    initially: "TERM,INT",
    syntax: stopSignals,
    isAnnotation: true,
    help: "the signals that ask the command to stop; they start --drain and --grace. All others are only forwarded",
  }),
  rewriteSignal: list({
    flag: "rewrite-signal",
    group: "child",
    value: "FROM:TO",
    syntax: rewrite,
    isAnnotation: true,
    help: "forward TO whenever FROM arrives",
  }),
  signalGroup: option({
    flag: "signal-group",
    group: "child",
    initial: false,
    syntax: boolean,
    isAnnotation: true,
    help: "forward signals to the command's whole process group; when the command has ended, send SIGTERM to the rest of the group",
  }),
  parentDeath: optional({
    flag: "parent-death",
    group: "child",
    value: "SIGNAL",
    syntax: parentDeath,
    isAnnotation: true,
    help: "the signal that ebb receives and forwards when its own parent dies; KILL ends the command too",
  }),
  expectExit: option({
    flag: "expect-exit",
    group: "child",
    value: "CODE[,CODE]",
    initial: [],
    initially: "none",
    syntax: exitCodes,
    isAnnotation: true,
    help: "exit codes of the command that ebb reports as 0, such as 143",
  }),
} as const;
