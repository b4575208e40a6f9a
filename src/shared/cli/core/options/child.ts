import { usualStops } from "../../../core/signal.ts";
import { list, option, optional } from "../option.ts";
import { boolean, exitCodes, parentDeath, rewrite, stopSignals } from "../syntax.ts";

/** The command's signals and exit code. */
export const child = {
  stopSignal: option({
    flag: "stop-signal",
    commands: ["run"],
    group: "child",
    value: "NAME[,NAME]",
    initial: usualStops,
    initially: "TERM,INT",
    syntax: stopSignals,
    help: "the signals that ask the command to stop; they start --drain and --grace. All others are only forwarded",
  }),
  rewriteSignal: list({
    flag: "rewrite-signal",
    commands: ["run"],
    group: "child",
    value: "FROM:TO",
    syntax: rewrite,
    help: "forward the signal TO whenever FROM arrives",
  }),
  signalGroup: option({
    flag: "signal-group",
    commands: ["run"],
    group: "child",
    initial: false,
    syntax: boolean,
    help: "forward signals to the command's whole process group; when the command has ended, send SIGTERM to the rest of the group",
  }),
  parentDeath: optional({
    flag: "parent-death",
    commands: ["run"],
    group: "child",
    value: "SIGNAL",
    syntax: parentDeath,
    help: "the signal that ebb receives and forwards when its own parent dies; KILL ends the command too",
  }),
  expectExit: option({
    flag: "expect-exit",
    commands: ["run"],
    group: "child",
    value: "CODE[,CODE]",
    initial: [],
    initially: "none",
    syntax: exitCodes,
    help: "exit codes of the command that ebb reports as 0, such as 143",
  }),
} as const;
