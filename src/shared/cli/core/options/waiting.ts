import { option } from "../option.ts";
import { boolean, limit, oneOf } from "../syntax.ts";
import { unlessZero } from "./variables.ts";

/** Before the command is started. */
export const waiting = {
  any: option({
    flag: "any",
    commands: ["wait"],
    group: "waiting",
    initial: false,
    syntax: boolean,
    help: "wait for only one of the targets",
    brief: "one of the targets is enough",
  }),
  waitTimeout: option({
    flag: "wait-timeout",
    commands: ["run", "wait"],
    group: "waiting",
    value: "D",
    initial: 300_000,
    syntax: limit,
    also: [unlessZero("QUIT_WITHOUT_ENVOY_TIMEOUT"), unlessZero("WAIT_FOR_ENVOY_TIMEOUT")],
    help: "stop waiting after this long; 0 waits forever",
    brief: "limit for the wait; 0: none",
  }),
  onWaitTimeout: option({
    flag: "on-wait-timeout",
    commands: ["run", "wait"],
    group: "waiting",
    value: "fail|start",
    initial: "fail",
    syntax: oneOf(["fail", "start"]),
    also: [unlessZero("QUIT_WITHOUT_ENVOY_TIMEOUT", "fail"), unlessZero("WAIT_FOR_ENVOY_TIMEOUT", "start")],
    help: "after --wait-timeout: fail exits with 69, start starts the command anyway",
    brief: "then exit with 69, or start",
  }),
  noWait: option({
    flag: "no-wait",
    commands: ["run"],
    group: "waiting",
    initial: false,
    syntax: boolean,
    also: [{ name: "START_WITHOUT_ENVOY" }],
    help: "start the command at once; the sidecars are still shut down at the end",
  }),
} as const;
