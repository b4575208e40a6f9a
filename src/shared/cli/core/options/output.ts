import { option, optional } from "../option.ts";
import { anyText, boolean, oneOf, positive } from "../syntax.ts";
import { isTrue } from "./variables.ts";

/** What ebb says, and what it asks for `ebb request`. */
export const output = {
  logLevel: option({
    flag: "log-level",
    group: "log",
    value: "debug|info|warn|error",
    initial: "info",
    syntax: oneOf(["debug", "info", "warn", "error"]),
    also: [
      {
        name: "SCUTTLE_LOGGING",
        read: (given) => [isTrue(given) ? "info" : "error"],
      },
    ],
    isAnnotation: true,
    help: "info logs each phase, debug also each attempt",
  }),
  logFormat: option({
    flag: "log-format",
    group: "log",
    value: "auto|json|text",
    initial: "auto",
    syntax: oneOf(["auto", "json", "text"]),
    isAnnotation: true,
    help: "auto is text at a terminal, JSON elsewhere",
  }),
  quiet: option({
    flag: "quiet",
    group: "log",
    initial: false,
    syntax: boolean,
    isAnnotation: true,
    help: "log only errors",
  }),
  terminationLog: optional({
    flag: "termination-log",
    group: "log",
    value: "PATH",
    initially: "/dev/termination-log if it exists",
    syntax: anyText,
    secret: false,
    isAnnotation: true,
    help: "the file that gets the reason, in one line, if ebb itself fails",
  }),
  body: optional({
    flag: "body",
    group: "request",
    value: "TEXT",
    syntax: anyText,
    secret: true,
    help: "the request's body; - reads it from stdin",
  }),
  timeout: option({
    flag: "timeout",
    group: "request",
    value: "D",
    initial: 10_000,
    syntax: positive,
    help: "time limit for the request and its whole answer",
  }),
  json: option({
    flag: "json",
    group: "output",
    initial: false,
    syntax: boolean,
    help: "print JSON",
  }),
  watch: option({
    flag: "watch",
    group: "output",
    initial: false,
    syntax: boolean,
    help: "print again each second, until a stop signal",
  }),
} as const;
