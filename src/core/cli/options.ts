import { parseHttpTarget, withoutSlashes } from "../base/address.ts";
import { redactHeader, redactUrl } from "../base/redact.ts";
import { parseExecutable } from "../run/process.ts";
import { usualStops } from "../run/signal.ts";
import { parseProbe } from "../sidecars/probe.ts";
import { parseHeader, parseQuitOption } from "../sidecars/quit.ts";
import { list, option, optional, type Values, type Variable } from "./option.ts";
import {
  anyText,
  boolean,
  duration,
  exitCodes,
  limit,
  oneOf,
  parentDeath,
  port,
  positive,
  rewrite,
  sidecarList,
  splitBy,
  stopSignals,
  syntax,
  wholeNumber,
} from "./syntax.ts";

const url = "a URL such as http://localhost:15000/path";

/** Another tool's switch, which says `value` when it is true; a word that is neither true nor false is refused. */
function whenTrue(name: string, value: string): Variable {
  return { name, read: (given) => (isTrue(given) ? [value] : []) };
}

function oneMore(quit: string): string {
  return `+${quit}`;
}

/** Another tool's time, which says `value` or itself; zero says nothing, as if it were not set. */
function unlessZero(name: string, value?: string): Variable {
  return { name, read: (given) => (duration.parse(given) === 0 ? [] : [value ?? given]) };
}

function isTrue(given: string): boolean {
  const value = boolean.parse(given);
  if (value === undefined) throw new Error("expected true or false");
  return value;
}

/** Every option that a command in the pod can have. The contract's table, in its order. */
export const options = {
  sidecar: option({
    flag: "sidecar",
    group: "sidecars",
    value: "NAME[,NAME]",
    initial: "auto",
    syntax: sidecarList,
    help: "which sidecars to wait for and to quit; auto: look for them",
  }),
  admin: optional({
    flag: "admin",
    group: "sidecars",
    value: "URL",
    initially: "by sidecar",
    syntax: syntax(parseHttpTarget, `${url} or unix:/path.sock`, redactUrl),
    also: [{ name: "ENVOY_ADMIN_API" }],
    help: "where the sidecar's admin interface is; readiness is then asked there",
  }),
  ready: list({
    flag: "ready",
    group: "waiting",
    value: "URL",
    syntax: syntax(parseProbe, "http(s)://host:port/path, tcp://host:port, unix:/socket or file:/path", redactUrl),
    help: "something more that must be ready",
  }),
  readyPath: optional({
    flag: "ready-path",
    group: "waiting",
    value: "PATH",
    initially: "by sidecar",
    syntax: syntax((path) => (/^\/[!-~]*$/.test(path) ? path : undefined), "a path such as /ready", redactUrl),
    secret: false,
    help: "what to ask --admin whether the sidecar is ready; of /server_info the state counts",
  }),
  quit: list({
    flag: "quit",
    group: "leaving",
    value: "[+][METHOD ]URL",
    initially: "by sidecar",
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
    help: "what to request at the end, instead of the sidecar's own quit (with +: before it); none: not the sidecar's own",
  }),
  signalProcess: list({
    flag: "signal-process",
    group: "leaving",
    value: "[+]NAME",
    syntax: syntax(parseExecutable, "an executable's name such as pilot-agent, or its whole path"),
    also: [whenTrue("ISTIO_FALLBACK_PKILL", "+pilot-agent")],
    secret: false,
    help: "end the processes of this executable by signals (INT, TERM, KILL), instead of the sidecar's own quit (with +: where that fails)",
  }),
  header: list({
    flag: "header",
    group: "sidecars",
    value: "'NAME: VALUE'",
    separator: "\n",
    syntax: syntax(parseHeader, "a header such as 'dapr-api-token: abc'", redactHeader),
    help: "a header for the quit requests, or for that of ebb request",
  }),
  any: option({
    flag: "any",
    group: "waiting",
    initial: false,
    syntax: boolean,
    help: "one ready target is enough",
  }),
  waitTimeout: option({
    flag: "wait-timeout",
    group: "waiting",
    value: "D",
    initial: 300_000,
    syntax: limit,
    also: [unlessZero("QUIT_WITHOUT_ENVOY_TIMEOUT"), unlessZero("WAIT_FOR_ENVOY_TIMEOUT")],
    help: "how long to wait until all are ready; 0: for ever",
  }),
  onWaitTimeout: option({
    flag: "on-wait-timeout",
    group: "waiting",
    value: "fail|start",
    initial: "fail",
    syntax: oneOf(["fail", "start"]),
    also: [unlessZero("QUIT_WITHOUT_ENVOY_TIMEOUT", "fail"), unlessZero("WAIT_FOR_ENVOY_TIMEOUT", "start")],
    help: "then: exit 69, or start the command all the same",
  }),
  noWait: option({
    flag: "no-wait",
    group: "waiting",
    initial: false,
    syntax: boolean,
    also: [{ name: "START_WITHOUT_ENVOY" }],
    help: "start at once; the sidecars are still quit at the end",
  }),
  quitOn: option({
    flag: "quit-on",
    group: "leaving",
    value: "always|success|never",
    initial: "always",
    syntax: oneOf(["always", "success", "never"]),
    also: [
      whenTrue("NEVER_KILL_ISTIO", "never"),
      whenTrue("NEVER_KILL_ENVOY", "never"),
      whenTrue("NEVER_KILL_ISTIO_ON_FAILURE", "success"),
      whenTrue("ALWAYS_KILL_ENVOY", "always"),
    ],
    help: "after which exit codes the sidecars are quit",
  }),
  restartPolicy: optional({
    flag: "restart-policy",
    group: "leaving",
    value: "Always|OnFailure|Never",
    syntax: oneOf(["Always", "OnFailure", "Never"]),
    help: "the pod's: no quit when the kubelet will start this container again",
  }),
  quitTimeout: option({
    flag: "quit-timeout",
    group: "leaving",
    value: "D",
    initial: 5000,
    syntax: positive,
    also: [{ name: "QUIT_REQUEST_TIMEOUT" }],
    help: "for each sidecar: until it has answered and is gone",
  }),
  drain: option({
    flag: "drain",
    group: "leaving",
    value: "D",
    initial: 0,
    initially: "0 (off) in run, 60s in drain",
    syntax: duration,
    also: [{ name: "TERMINATION_DRAIN_DURATION_SECONDS" }],
    help: "how long draining may take before the command gets its stop signal",
  }),
  minDrain: option({
    flag: "min-drain",
    group: "leaving",
    value: "D",
    initial: 5000,
    syntax: duration,
    also: [{ name: "MINIMUM_DRAIN_DURATION" }],
    help: "keep accepting at least so long: endpoints deregister meanwhile",
  }),
  idle: option({
    flag: "idle",
    group: "leaving",
    value: "N",
    initial: 0,
    initially: "0",
    syntax: wholeNumber,
    help: "drained when no more requests and connections than these are in flight",
  }),
  grace: optional({
    flag: "grace",
    group: "child",
    value: "D",
    syntax: duration,
    help: "this long after a stop signal was forwarded: SIGKILL to all that is left of the command",
  }),
  podGrace: optional({
    flag: "pod-grace",
    group: "leaving",
    value: "D",
    syntax: positive,
    help: "the pod's terminationGracePeriodSeconds: --drain and --grace never plan past it",
  }),
  podAnnotations: option({
    flag: "pod-annotations",
    group: "sidecars",
    value: "PATH",
    initial: "/etc/podinfo/annotations",
    syntax: anyText,
    secret: false,
    help: "the downward-API file where auto reads the pod's annotations",
  }),
  hostNetwork: optional({
    flag: "host-network",
    group: "sidecars",
    syntax: boolean,
    help: "this pod is on its node's network, where a port may be another pod's; without it /etc/hosts tells",
  }),
  appPort: list({
    flag: "app-port",
    group: "sidecars",
    value: "N",
    syntax: port,
    help: "a port of the app, where auto looks for no sidecar",
  }),
  detect: option({
    flag: "detect",
    group: "sidecars",
    value: "D",
    initial: 3000,
    syntax: duration,
    help: "how long auto looks before it decides that there is no sidecar",
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
    help: "info: each phase; debug: each attempt",
  }),
  logFormat: option({
    flag: "log-format",
    group: "log",
    value: "auto|json|text",
    initial: "auto",
    syntax: oneOf(["auto", "json", "text"]),
    help: "auto: text at a terminal, JSON otherwise",
  }),
  quiet: option({
    flag: "quiet",
    group: "log",
    initial: false,
    syntax: boolean,
    help: "errors only",
  }),
  terminationLog: optional({
    flag: "termination-log",
    group: "log",
    value: "PATH",
    initially: "/dev/termination-log if it exists",
    syntax: anyText,
    secret: false,
    help: "where ebb writes, in one line, why it failed",
  }),
  port: optional({
    flag: "port",
    group: "sidecars",
    value: "N",
    variable: "EBB_ADMIN_PORT", // EBB_PORT alone would look like what Kubernetes sets for a Service named ebb
    syntax: port,
    help: "the port of the admin interface on this pod's loopback",
  }),
  body: optional({
    flag: "body",
    group: "request",
    value: "TEXT",
    syntax: anyText,
    secret: true,
    help: "the request's body; -: what stdin says",
  }),
  timeout: option({
    flag: "timeout",
    group: "request",
    value: "D",
    initial: 10_000,
    syntax: positive,
    help: "how long the server may take for the whole answer",
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
    help: "again each second, until a stop signal",
  }),
} as const;

export type OptionName = keyof typeof options;

/** Some of the options, resolved. */
export type Settings<K extends OptionName = OptionName> = Pick<Values<typeof options>, K>;

/** What says which sidecars are here, and what is asked of them. */
export const finding = [
  ...["sidecar", "admin", "ready", "readyPath", "quit", "signalProcess"],
  ...["podAnnotations", "hostNetwork", "appPort"],
] as const;
/** How ebb logs. */
export const logging = ["logLevel", "logFormat", "quiet"] as const;

/** The options with these names, in the table's order. */
export function pickOptions<K extends OptionName>(...names: readonly K[]): Pick<typeof options, K> {
  const picked: Partial<Record<OptionName, unknown>> = {};
  const wanted: ReadonlySet<string> = new Set(names);
  for (const name of Object.keys(options) as OptionName[]) if (wanted.has(name)) picked[name] = options[name];
  return picked as Pick<typeof options, K>;
}
