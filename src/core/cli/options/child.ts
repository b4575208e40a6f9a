import { usualStops } from "../../run/signal.ts";
import { list, option, optional } from "../option.ts";
import { boolean, duration, exitCodes, parentDeath, rewrite, stopSignals } from "../syntax.ts";

/** The command, its signals and its end. */
export const child = {
  grace: optional({
    flag: "grace",
    group: "child",
    value: "D",
    syntax: duration,
    help: "this long after a stop signal was forwarded: SIGKILL to all that is left of the command",
  }),
  stopSignal: option({
    flag: "stop-signal",
    group: "child",
    value: "NAME[,NAME]",
    initial: usualStops,
    initially: "TERM,INT",
    syntax: stopSignals,
    help: "the signals that ask the command to stop: they start --drain and --grace; every other one is only forwarded",
  }),
  signal: list({
    flag: "signal",
    group: "child",
    value: "FROM:TO",
    syntax: rewrite,
    help: "rewrite a signal before it is forwarded",
  }),
  group: option({
    flag: "group",
    group: "child",
    initial: false,
    syntax: boolean,
    help: "forward signals to the command's whole process group; what is left of it when the command has ended gets SIGTERM",
  }),
  parentDeath: optional({
    flag: "parent-death",
    group: "child",
    value: "SIGNAL",
    syntax: parentDeath,
    help: "the signal that ebb gets, and forwards, when its own parent dies; KILL ends the command too",
  }),
  expectExit: option({
    flag: "expect-exit",
    group: "child",
    value: "CODE[,CODE]",
    initial: [],
    initially: "none",
    syntax: exitCodes,
    help: "exit codes of the command to report as 0",
  }),
} as const;
