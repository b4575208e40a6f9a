import { redactUrl } from "../../../core/redact.ts";
import { hintAtTcp, parseTarget, TARGET_FORMS } from "../../../sidecars/core/probe.ts";
import { list, option, optional } from "../option.ts";
import { boolean, limit, oneOf, syntax } from "../syntax.ts";
import { unlessZero } from "./variables.ts";

/** Before the command is started. */
export const waiting = {
  ready: list({
    flag: "ready",
    group: "waiting",
    value: "URL",
    syntax: { ...syntax(parseTarget, TARGET_FORMS, redactUrl), hint: hintAtTcp },
    isAnnotation: true,
    help: "another target that must be ready: http(s)://, tcp://, unix: or file:",
  }),
  readyPath: optional({
    flag: "ready-path",
    group: "waiting",
    value: "PATH",
    initially: "depends on the sidecar",
    syntax: syntax((path) => (/^\/[!-~]*$/.test(path) ? path : undefined), "a path such as /ready", redactUrl),
    secret: false,
    isAnnotation: true,
    help: "the path at --admin that answers 2xx if the sidecar is ready; /server_info must also report the state LIVE",
  }),
  any: option({
    flag: "any",
    group: "waiting",
    initial: false,
    syntax: boolean,
    help: "wait for one of the targets, not for all",
  }),
  waitTimeout: option({
    flag: "wait-timeout",
    group: "waiting",
    value: "D",
    initial: 300_000,
    syntax: limit,
    also: [unlessZero("QUIT_WITHOUT_ENVOY_TIMEOUT"), unlessZero("WAIT_FOR_ENVOY_TIMEOUT")],
    isAnnotation: true,
    help: "give up the wait after this long; 0 waits for ever",
  }),
  onWaitTimeout: option({
    flag: "on-wait-timeout",
    group: "waiting",
    value: "fail|start",
    initial: "fail",
    syntax: oneOf(["fail", "start"]),
    also: [unlessZero("QUIT_WITHOUT_ENVOY_TIMEOUT", "fail"), unlessZero("WAIT_FOR_ENVOY_TIMEOUT", "start")],
    isAnnotation: true,
    help: "after --wait-timeout: fail exits with 69, start starts the command anyway",
  }),
  noWait: option({
    flag: "no-wait",
    group: "waiting",
    initial: false,
    syntax: boolean,
    also: [{ name: "START_WITHOUT_ENVOY" }],
    isAnnotation: true,
    help: "start the command at once; the sidecars are still quit at the end",
  }),
} as const;
