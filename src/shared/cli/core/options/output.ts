import { option, optional } from "../option.ts";
import { anyText, boolean, oneOf, port, positive } from "../syntax.ts";
import { isTrue } from "./variables.ts";

/** The commands that have a log. */
const loggingCommands = [
  ...(["run", "wait", "drain", "hold", "quit", "install"] as const),
  ...(["image", "webhook", "reaper", "doctor"] as const),
] as const;

/** The log, the request of `ebb request`, and what is printed. */
export const output = {
  logLevel: option({
    flag: "log-level",
    commands: loggingCommands,
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
    inPod: "proxy-hook",
    help: "info logs each phase, debug also each attempt",
    brief: "debug also logs attempts",
  }),
  logFormat: option({
    flag: "log-format",
    commands: loggingCommands,
    group: "log",
    value: "auto|json|text",
    initial: "auto",
    syntax: oneOf(["auto", "json", "text"]),
    inPod: "proxy-hook",
    help: "auto is text at a terminal, JSON elsewhere",
  }),
  quiet: option({
    flag: "quiet",
    commands: [...loggingCommands, "inject"],
    group: "log",
    initial: false,
    syntax: boolean,
    inPod: "proxy-hook",
    help: "log only errors",
  }),
  terminationLog: optional({
    flag: "termination-log",
    commands: ["run", "wait", "install", "webhook", "reaper"],
    group: "log",
    value: "PATH",
    initially: "/dev/termination-log if it exists",
    syntax: anyText,
    secret: false,
    help: "the file to write the reason to, in one line, if ebb itself fails",
  }),
  port: optional({
    flag: "port",
    commands: ["request"],
    group: "sidecars",
    value: "N",
    variable: "EBB_ADMIN_PORT", // EBB_PORT alone would look like what Kubernetes sets for a Service named ebb
    syntax: port,
    help: "port of the sidecar's admin interface on this pod's loopback",
  }),
  body: optional({
    flag: "body",
    commands: ["request"],
    group: "request",
    value: "TEXT",
    syntax: anyText,
    secret: true,
    help: "the request's body; - reads it from stdin",
  }),
  timeout: option({
    flag: "timeout",
    commands: ["request"],
    group: "request",
    value: "D",
    initial: 10_000,
    syntax: positive,
    help: "time limit for the request and the whole response",
  }),
  json: option({
    flag: "json",
    commands: ["status", "image", "reaper", "doctor"],
    group: "output",
    initial: false,
    syntax: boolean,
    help: "print JSON",
  }),
  watch: option({
    flag: "watch",
    commands: ["status"],
    group: "output",
    initial: false,
    syntax: boolean,
    help: "print again each second, until a stop signal",
  }),
} as const;
