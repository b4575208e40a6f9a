import type { Rival } from "./rivals.ts";

/** Something that ebb does differently, on purpose, from tools whose place it takes. */
export interface Listed {
  readonly id: string;
  readonly rivals: readonly Rival[];
  /** What they do. */
  readonly theirs: string;
  /** What ebb does. */
  readonly ours: string;
  /** Why ebb differs. */
  readonly why: string;
  /** Whether it shows now and then, in any case. */
  readonly isAtRandom?: true;
  /** Whether it shows only in what the cases do not compare: how long a run takes, what the command inherits. */
  readonly isOfTime?: true;
}

const scuttles = ["scuttle", "scuttle-redbox"] as const;
const go = [...scuttles, "envoy-preflight"] as const;

/** All differences. Those that users notice are also on the manual's pages from-scuttle and migrating. */
export const differences = [
  {
    id: "signal-death",
    rivals: [...go, "linkerd-await"],
    theirs: "exits with 255 when a signal ends the command (`linkerd-await --shutdown`: 71)",
    ours: "exits with 128+n: 143 for SIGTERM",
    why: "a Job's `podFailurePolicy` can tell a stop from a failure, and so can people",
  },
  {
    id: "not-started",
    rivals: [...go, "linkerd-await"],
    theirs: "if the command cannot be started: a Go panic, exit code 2, and no quit (linkerd-await: 71)",
    ours: "127 if it is not found, 126 if it cannot be executed; the sidecar is quit, as after any failure",
    why: "the Job ends, and the code says why",
  },
  {
    id: "no-command",
    rivals: go,
    theirs: "without a command: does nothing, and exits with 0",
    ours: "exits with 64",
    why: "a Job that has lost its command did not succeed",
  },
  {
    id: "double-dash",
    rivals: go,
    theirs: "`scuttle -- CMD` looks for a command called `--`",
    ours: "accepts `--` before the command",
    why: "this is usual on Unix",
  },
  {
    id: "help",
    rivals: scuttles,
    theirs: "`scuttle --help` looks for a command called `--help`",
    ours: "prints help",
    why: "this is usual on Unix",
  },
  {
    id: "first-instant",
    rivals: go,
    theirs:
      "a signal just after the command's start ends the tool. In redboxllc's scuttle and envoy-preflight a signal of Go's own can do that, or make them quit the sidecar twice",
    ours: "loses no signal, and mistakes none for another",
    why: "one start in twenty went wrong",
    isAtRandom: true,
  },
  {
    id: "hanging-poll",
    rivals: go,
    theirs: "waits forever for a poll that is never answered",
    ours: "sends the next poll meanwhile",
    why: "a proxy that hangs once may be ready later",
  },
  {
    id: "status",
    rivals: go,
    theirs: "takes the state LIVE from an answer with any status",
    ours: "only from one with status 200",
    why: "an error page does not come from a proxy that serves",
  },
  {
    id: "redirect",
    rivals: ["scuttle", "pilot-agent"],
    theirs: "follows redirects",
    ours: "does not follow them",
    why: "the proxy's own answer counts, and no request leaves the pod",
  },
  {
    id: "stop-while-waiting",
    rivals: [...go, "linkerd-await"],
    theirs:
      "a stop signal during the wait ends the tool, and the sidecar stays. SIGQUIT ends all but linkerd-await with exit code 2. As PID 1 linkerd-await ignores them all; the others exit with 2",
    ours: "exits with 128+n, and quits the sidecar, as after any end",
    why: "a Job that is stopped early ends, too",
  },
  {
    id: "hang-up",
    rivals: [...go, "linkerd-await"],
    theirs: "SIGHUP ends the tool while it waits",
    ours: "drops it, and logs that",
    why: "it asks the command to reload, and the command has not started",
  },
  {
    id: "early-signal",
    rivals: ["linkerd-await"],
    theirs: "SIGUSR1 and others end the tool while it waits",
    ours: "only SIGTERM, SIGINT and SIGQUIT end the wait; others are dropped, and logged",
    why: "they are meant for the command, which has not started",
  },
  {
    id: "real-time",
    rivals: [...go, "linkerd-await"],
    theirs: "SIGRTMIN ends the tool (linkerd-await: with `--shutdown`)",
    ours: "forwards it to the command",
    why: "so does ebb with any other signal",
  },
  {
    id: "only-sigterm",
    rivals: ["linkerd-await"],
    theirs: "`--shutdown` forwards the first SIGTERM; other signals end linkerd-await",
    ours: "forwards each signal, each time",
    why: "the command decides what SIGHUP, SIGUSR1 or SIGINT mean",
  },
  {
    id: "wait-timeout",
    rivals: [...scuttles, "linkerd-await"],
    theirs: "exits with 1 if the proxy is not ready in time (linkerd-await: 69), and the sidecar stays",
    ours: "exits with 69, and quits the sidecar, unless `NEVER_KILL_ISTIO` forbids it",
    why: "the pod ends, and 1 stays the command's own code",
  },
  {
    id: "quit-again",
    rivals: [...go, "linkerd-await"],
    theirs: "sends a quit once, whatever the answer",
    ours: "tries again: until `QUIT_REQUEST_TIMEOUT` (5 s) if the connection is refused; twice after a 5xx or a broken connection",
    why: "a sidecar that missed its quit would run forever",
  },
  {
    id: "quit-timeout",
    rivals: ["scuttle-redbox", "envoy-preflight", "linkerd-await"],
    theirs: "waits forever for the answer to a quit",
    ours: "waits 5 s at most, or `QUIT_REQUEST_TIMEOUT`",
    why: "the container must end with its command",
  },
  {
    id: "nobody-listens",
    rivals: [...go, "linkerd-await"],
    theirs: "gives up at once if the connection is refused",
    ours: "if the sidecar was never ready, tries until `QUIT_REQUEST_TIMEOUT`: the run ends up to 5 s later",
    why: "the sidecar may start only after a short command has ended",
    isOfTime: true,
  },
  {
    id: "watched",
    rivals: [...go, "linkerd-await"],
    theirs: "is done when a quit is answered",
    ours: "watches until the proxy has gone, or `QUIT_REQUEST_TIMEOUT` is over: the run ends up to 5 s later if a proxy stays",
    why: "the log says whether the pod can end",
    isOfTime: true,
  },
  {
    id: "sooner",
    rivals: [...go, "linkerd-await", "pilot-agent"],
    theirs: "polls the proxy with a fixed or growing pause",
    ours: "polls every few milliseconds at first, whatever `--backoff` or `--periodMillis` say",
    why: "the command starts as soon as the proxy is ready",
    isOfTime: true,
  },
  {
    id: "patience",
    rivals: ["pilot-agent"],
    theirs: "`wait` ignores an answer that takes longer than `--requestTimeoutMillis` (500 ms)",
    ours: "accepts it whenever it comes",
    why: "on a busy node a proxy is slow, but ready",
    isOfTime: true,
  },
  {
    id: "ignored-signals",
    rivals: [...go, "linkerd-await"],
    theirs: "signals that the tool ignores from its start are not ignored in the command (linkerd-await: SIGPIPE)",
    ours: "the command inherits which signals are ignored",
    why: "`nohup` needs it",
    isOfTime: true,
  },
  {
    id: "blocked-signals",
    rivals: go,
    theirs: "SIGHUP, SIGINT, SIGTERM, SIGCHLD and a dozen others are no longer blocked in the command",
    ours: "the command inherits which signals are blocked",
    why: "the command runs as it would without ebb",
    isOfTime: true,
  },
  {
    id: "no-time-to-quit",
    rivals: ["scuttle"],
    theirs: "with `QUIT_REQUEST_TIMEOUT=0` quits nothing: it has no time left",
    ours: "0 means the default, 5 s",
    why: "it means that in the other timeouts",
  },
  {
    id: "one-by-one",
    rivals: ["scuttle"],
    theirs: "asks generic endpoints one after another, within one timeout",
    ours: "asks all at once, each with a timeout of its own; then Istio, when each has answered or failed",
    why: "an endpoint that hangs takes no time from the others",
  },
  {
    id: "envoy-told",
    rivals: scuttles,
    theirs:
      "with `ENVOY_ADMIN_API` at another port than 15000, and without `ISTIO_QUIT_API`, quits nothing (redboxllc's: `pkill -SIGINT pilot-agent`)",
    ours: "sends the quit to `ENVOY_ADMIN_API/quitquitquit`; if that is refused, ends pilot-agent by signals",
    why: "a plain Envoy next to the command ends, too",
  },
  {
    id: "pkill-first",
    rivals: ["scuttle-redbox"],
    theirs: "without `ISTIO_QUIT_API`, runs `pkill` in a shell",
    ours: "derives `ISTIO_QUIT_API` if `ENVOY_ADMIN_API` has port 15000, as kvij's scuttle does",
    why: "no shell, no pkill, no shared PID namespace",
  },
  {
    id: "fallback",
    rivals: ["scuttle"],
    theirs:
      "only redboxllc's scuttle knows `ISTIO_FALLBACK_PKILL`, and ends pilot-agent by a signal without `ISTIO_QUIT_API`",
    ours: "does both as a last resort, without a shell or pkill",
    why: "one executable replaces both scuttles",
  },
  {
    id: "newer-variables",
    rivals: ["scuttle-redbox"],
    theirs: "does not know `GENERIC_QUIT_ONLY` and `QUIT_REQUEST_TIMEOUT`",
    ours: "knows them, as kvij's scuttle does",
    why: "one executable replaces both scuttles",
  },
  {
    id: "loopback",
    rivals: go,
    theirs: "takes a URL as local if it contains `127.0.0.1` or `localhost`",
    ours: "compares the host, and `[::1]` is local, too",
    why: "pods may have IPv6 only",
  },
  {
    id: "slash",
    rivals: go,
    theirs: "from a URL that ends with `/` makes `//server_info` and `//quitquitquit`",
    ours: "writes one slash",
    why: "both spellings mean the same",
  },
  {
    id: "empty-variable",
    rivals: ["envoy-preflight", "linkerd-await"],
    theirs:
      "takes an empty `ENVOY_ADMIN_API` or `ENVOY_KILL_API` as a URL that does not answer, and refuses an empty `LINKERD_AWAIT_VERBOSE`",
    ours: "takes an empty variable as unset",
    why: "charts set empty values",
  },
  {
    id: "bad-value",
    rivals: go,
    theirs: "ignores a value that it cannot parse, and polls a malformed URL forever",
    ours: "exits with 64, and says what is wrong",
    why: "`NEVER_KILL_ISTIO=yes` is found before it kills Istio",
  },
  {
    id: "bare-seconds",
    rivals: [...scuttles, "linkerd-await"],
    theirs: "does not accept a duration without a unit",
    ours: "takes it as seconds",
    why: "Kubernetes' own fields are in seconds",
  },
  {
    id: "stdout",
    rivals: [...scuttles, "pilot-agent"],
    theirs: "logs to stdout, among the command's output",
    ours: "logs to stderr",
    why: "stdout belongs to the command",
  },
  {
    id: "usage-code",
    rivals: ["linkerd-await"],
    theirs: "exits with 2 for a wrong command line",
    ours: "exits with 64",
    why: "one code for this in all of ebb",
  },
  {
    id: "uri",
    rivals: ["linkerd-await"],
    theirs: "had `--uri` in its first releases only",
    ours: "accepts it",
    why: "old command lines keep working",
  },
  {
    id: "half-answer",
    rivals: ["linkerd-await"],
    theirs: "takes status 200 as ready, even if the rest of the answer never comes",
    ours: "needs the whole answer",
    why: "a proxy that dies while it answers is not ready",
  },
  {
    id: "request-code",
    rivals: ["pilot-agent"],
    theirs: "exits with 255 for any failure, with the answer's body on stderr",
    ours: "exits with 1 for a status of 400 or more, with the body on stdout; 69 without an answer; 64 for a wrong command line",
    why: "a hook can tell them apart",
  },
  {
    id: "newline",
    rivals: ["pilot-agent"],
    theirs: "`request` adds a newline to the answer's body",
    ours: "writes the body as it came",
    why: "a pipe gets what Envoy has sent",
  },
  {
    id: "debug-port",
    rivals: ["pilot-agent"],
    theirs: "`--debug-port` accepts 15000, 15004, 15020 and 15021",
    ours: "accepts any port",
    why: "`status.sidecar.istio.io/port` changes them",
  },
  {
    id: "not-found-passes",
    rivals: ["pilot-agent"],
    theirs: "`request` exits with 0 after a 404",
    ours: "exits with 1",
    why: "a quit at a wrong path has done nothing",
  },
  {
    id: "wait-code",
    rivals: ["pilot-agent"],
    theirs: "`wait` exits with 255 if the proxy is not ready in time",
    ours: "exits with 69; with 64 for a malformed URL",
    why: "one code for this in all of ebb",
  },
] as const satisfies readonly Listed[];

export type DifferenceId = (typeof differences)[number]["id"];
