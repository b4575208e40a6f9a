import { withoutSlashes } from "../../../core/address.ts";
import { redactUrl } from "../../../core/redact.ts";
import { parseRestartCodes } from "../../../core/restart.ts";
import { splitBy } from "../../../core/text.ts";
import { parseExecutable } from "../../../sidecars/core/executable.ts";
import { parseQuitOption } from "../../../sidecars/core/quit.ts";
import { list, option, optional } from "../option.ts";
import { containerNames, duration, oneOf, positive, syntax, wholeNumber } from "../syntax.ts";
import { oneMore, url, whenTrue } from "./variables.ts";

/** Draining and quitting. */
export const shutdown = {
  quit: list({
    flag: "quit",
    group: "shutdown",
    value: "[+][METHOD ]URL",
    initially: "depends on the sidecar",
    syntax: syntax(parseQuitOption, `${url}, with a method before it if it is not POST, or none`, redactUrl),
    also: [
      {
        name: "ISTIO_QUIT_API",
        read: (base) => [`${withoutSlashes(base)}/quitquitquit`],
      },
      { name: "ENVOY_KILL_API" },
      { name: "GENERIC_QUIT_ENDPOINTS", read: (urls) => splitBy(urls, ",").map(oneMore) },
      { name: "CSQL_PROXY_QUIT_URLS", read: (urls) => splitBy(urls, " ").map(oneMore) },
    ],
    isAnnotation: true,
    help: "a quit request to send instead of the sidecar's usual one; +URL sends it before the usual one; none leaves out the usual one",
  }),
  signalProcess: list({
    flag: "signal-process",
    group: "shutdown",
    value: "[+]NAME",
    syntax: syntax(parseExecutable, "an executable's name such as pilot-agent, or its whole path"),
    also: [whenTrue("ISTIO_FALLBACK_PKILL", "+pilot-agent")],
    secret: false,
    isAnnotation: true,
    help: "end the processes of this executable by signals (INT, TERM, KILL) instead of a quit request; +NAME does so only if the quit request fails",
  }),
  quitOn: option({
    flag: "quit-on",
    group: "shutdown",
    value: "always|success|never",
    initial: "always",
    syntax: oneOf(["always", "success", "never"]),
    also: [
      whenTrue("NEVER_KILL_ISTIO", "never"),
      whenTrue("NEVER_KILL_ENVOY", "never"),
      whenTrue("NEVER_KILL_ISTIO_ON_FAILURE", "success"),
      whenTrue("ALWAYS_KILL_ENVOY", "always"),
    ],
    isAnnotation: true,
    help: "quit the sidecars always, only after the command succeeded, or never",
  }),
  restartPolicy: optional({
    flag: "restart-policy",
    group: "shutdown",
    value: "Always|OnFailure|Never",
    syntax: oneOf(["Always", "OnFailure", "Never"]),
    isAnnotation: true,
    help: "the restartPolicy of the container, else of the pod; ebb keeps the sidecars if the kubelet will restart this container",
  }),
  restartCodes: optional({
    flag: "restart-codes",
    group: "shutdown",
    value: "[!]CODE[,CODE]",
    syntax: syntax(parseRestartCodes, "exit codes such as 42,43, or !0,1 for all but these"),
    isAnnotation: true,
    help: "the exit codes of the container's restartPolicyRules, after which the kubelet restarts it whatever its policy; !: all other codes",
  }),
  lastOf: optional({
    flag: "last-of",
    group: "shutdown",
    value: "NAME,NAME",
    syntax: containerNames,
    secret: false,
    help: "the app containers of this pod, this one first: the last one that ends quits the sidecars",
  }),
  quitTimeout: option({
    flag: "quit-timeout",
    group: "shutdown",
    value: "D",
    initial: 5000,
    syntax: positive,
    also: [{ name: "QUIT_REQUEST_TIMEOUT" }],
    isAnnotation: true,
    help: "time limit for each sidecar to answer and to exit",
  }),
  drain: option({
    flag: "drain",
    group: "shutdown",
    value: "D",
    initial: 0,
    initially: "0 (off) in run, 60s in drain",
    syntax: duration,
    also: [{ name: "TERMINATION_DRAIN_DURATION_SECONDS" }],
    isAnnotation: true,
    help: "drain for at most this long before the command gets its stop signal",
  }),
  minDrain: option({
    flag: "min-drain",
    group: "shutdown",
    value: "D",
    initial: 5000,
    syntax: duration,
    also: [{ name: "MINIMUM_DRAIN_DURATION" }],
    isAnnotation: true,
    help: "keep accepting connections for at least this long, while the pod leaves its endpoints",
  }),
  maxInFlight: option({
    flag: "max-in-flight",
    group: "shutdown",
    value: "N",
    initial: 0,
    initially: "0",
    syntax: wholeNumber,
    isAnnotation: true,
    help: "the drain is done when at most N requests and connections are in flight",
  }),
  podGrace: optional({
    flag: "pod-grace",
    group: "shutdown",
    value: "D",
    syntax: positive,
    isAnnotation: true,
    help: "the pod's terminationGracePeriodSeconds; --drain and --grace are cut to fit into it",
  }),
} as const;
