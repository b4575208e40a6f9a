import type { Rival } from "./rivals.ts";

/** What ebb does otherwise than a tool whose place it takes, on purpose. */
export interface Listed {
  readonly id: string;
  readonly rivals: readonly Rival[];
  /** What they do. */
  readonly theirs: string;
  readonly ours: string;
  readonly why: string;
  /** It shows now and then, in any case. */
  readonly isAtRandom?: true;
  /** It shows in what the cases that are written down do not compare: how long a run takes, what the command inherits. */
  readonly isOfTime?: true;
}

const scuttles = ["scuttle", "scuttle-redbox"] as const;
const go = [...scuttles, "envoy-preflight"] as const;

export const differences = [
  {
    id: "signal-death",
    rivals: [...go, "linkerd-await"],
    theirs: "a command that a signal ends is exit code 255 (`linkerd-await --shutdown`: 71)",
    ours: "128+n, 143 for SIGTERM",
    why: "a Job's `podFailurePolicy` and people tell a stop from a failure",
  },
  {
    id: "not-started",
    rivals: [...go, "linkerd-await"],
    theirs: "a command that cannot be started is a Go panic, exit code 2, and no quit (linkerd-await: 71)",
    ours: "127 where it is not found, 126 where it cannot be executed; the sidecar is quit as after any failure",
    why: "the Job ends, and says why",
  },
  {
    id: "no-command",
    rivals: go,
    theirs: "without a command nothing happens, exit code 0",
    ours: "exit code 64",
    why: "a Job whose command was lost did not succeed",
  },
  {
    id: "double-dash",
    rivals: go,
    theirs: "`scuttle -- CMD` looks for a command called `--`",
    ours: "`--` may stand before the command",
    why: "as everywhere",
  },
  {
    id: "help",
    rivals: scuttles,
    theirs: "`scuttle --help` looks for a command called `--help`",
    ours: "help",
    why: "as everywhere",
  },
  {
    id: "first-instant",
    rivals: go,
    theirs:
      "a signal in the command's first instant ends the tool; with redboxllc's scuttle and envoy-preflight one of Go's own does, or has the sidecar quit twice",
    ours: "no signal is lost, or taken for another",
    why: "one start in twenty went wrong",
    isAtRandom: true,
  },
  {
    id: "hanging-poll",
    rivals: go,
    theirs: "a poll that is never answered is waited for, for ever",
    ours: "polls do not wait for one another",
    why: "a proxy that hangs once is ready later",
  },
  {
    id: "status",
    rivals: go,
    theirs: "the state LIVE counts whatever the answer's status is",
    ours: "with status 200 alone",
    why: "an error page is not a proxy that serves",
  },
  {
    id: "redirect",
    rivals: ["scuttle", "pilot-agent"],
    theirs: "redirects are followed",
    ours: "they are not",
    why: "the proxy's own answer counts, and no request leaves the pod",
  },
  {
    id: "stop-while-waiting",
    rivals: [...go, "linkerd-await"],
    theirs:
      "a stop signal while it waits ends it, and the sidecar stays; SIGQUIT ends all but linkerd-await with exit code 2; as PID 1 linkerd-await does not notice any, the others exit with 2",
    ours: "128+n, and the sidecar is quit, as after any end",
    why: "a Job that is stopped early ends, too",
  },
  {
    id: "hang-up",
    rivals: [...go, "linkerd-await"],
    theirs: "SIGHUP ends it while it waits",
    ours: "it is dropped, and said",
    why: "a reload means something to the command, and it is not there yet",
  },
  {
    id: "early-signal",
    rivals: ["linkerd-await"],
    theirs: "SIGUSR1 and others end it while it waits",
    ours: "SIGTERM, SIGINT and SIGQUIT alone end the wait; others are dropped, and said",
    why: "they mean something to the command, and it is not there yet",
  },
  {
    id: "real-time",
    rivals: [...go, "linkerd-await"],
    theirs: "SIGRTMIN ends the tool (linkerd-await: with `--shutdown`)",
    ours: "it reaches the command",
    why: "as with every other signal",
  },
  {
    id: "only-sigterm",
    rivals: ["linkerd-await"],
    theirs: "`--shutdown` forwards the first SIGTERM; other signals end linkerd-await",
    ours: "each signal reaches the command, each time",
    why: "reload, dump and interrupt are the command's business",
  },
  {
    id: "wait-timeout",
    rivals: [...scuttles, "linkerd-await"],
    theirs: "out of time while waiting: exit code 1 (linkerd-await: 69), and the sidecar stays",
    ours: "exit code 69, and the sidecar is quit, unless `NEVER_KILL_ISTIO` says otherwise",
    why: "the pod ends; 1 is the command's own code",
  },
  {
    id: "quit-again",
    rivals: [...go, "linkerd-await"],
    theirs: "a quit is sent once, whatever comes of it",
    ours: "where nobody listens it is tried again until `QUIT_REQUEST_TIMEOUT` (5 s) is over; after a 5xx, or a connection that is cut off, twice more",
    why: "a sidecar that missed its quit runs for ever",
  },
  {
    id: "quit-timeout",
    rivals: ["scuttle-redbox", "envoy-preflight", "linkerd-await"],
    theirs: "a quit that is never answered is waited for, for ever",
    ours: "5 s at most, or `QUIT_REQUEST_TIMEOUT`",
    why: "the command's end is the container's",
  },
  {
    id: "nobody-listens",
    rivals: [...go, "linkerd-await"],
    theirs: "a quit where nobody listens has failed, at once",
    ours: "where the sidecar was never seen ready it is tried until `QUIT_REQUEST_TIMEOUT` is over: the run ends up to 5 s later",
    why: "a sidecar may come later than a short command ends",
    isOfTime: true,
  },
  {
    id: "watched",
    rivals: [...go, "linkerd-await"],
    theirs: "a quit that is answered is the end of it",
    ours: "the proxy is watched until it is gone, or `QUIT_REQUEST_TIMEOUT` is over: the run ends up to 5 s later where a proxy takes the quit and stays",
    why: "the log says whether the pod can end",
    isOfTime: true,
  },
  {
    id: "sooner",
    rivals: [...go, "linkerd-await", "pilot-agent"],
    theirs: "the proxy is polled with a pause that is fixed, or grows",
    ours: "every few milliseconds at first, whatever `--backoff` or `--periodMillis` say",
    why: "the command starts as soon as the proxy is ready",
    isOfTime: true,
  },
  {
    id: "patience",
    rivals: ["pilot-agent"],
    theirs: "`wait` drops an answer that takes longer than `--requestTimeoutMillis` (500 ms)",
    ours: "it counts when it comes",
    why: "a node that is busy makes a proxy slow, not unready",
    isOfTime: true,
  },
  {
    id: "ignored-signals",
    rivals: [...go, "linkerd-await"],
    theirs:
      "signals that were ignored where the tool was started are no longer ignored in the command (linkerd-await: SIGPIPE)",
    ours: "the command inherits them as they were",
    why: "as with `nohup`, and as if nothing stood between",
    isOfTime: true,
  },
  {
    id: "blocked-signals",
    rivals: go,
    theirs: "SIGHUP, SIGINT, SIGTERM, SIGCHLD and a dozen others that were blocked are not blocked in the command",
    ours: "the command inherits them as they were",
    why: "as if nothing stood between",
    isOfTime: true,
  },
  {
    id: "no-time-to-quit",
    rivals: ["scuttle"],
    theirs: "`QUIT_REQUEST_TIMEOUT=0` leaves no time: nothing is quit",
    ours: "0 is none given: 5 s",
    why: "as with the other timeouts",
  },
  {
    id: "one-by-one",
    rivals: ["scuttle"],
    theirs: "generic endpoints are told one after the other, within one timeout",
    ours: "all at once, each with its own; then Istio, as soon as each has answered or failed",
    why: "one that hangs takes no time from the others",
  },
  {
    id: "envoy-told",
    rivals: scuttles,
    theirs:
      "with `ENVOY_ADMIN_API` at another port than 15000 and no `ISTIO_QUIT_API` nothing is quit (redboxllc's: `pkill -SIGINT pilot-agent`)",
    ours: "Envoy is told at `ENVOY_ADMIN_API/quitquitquit`; where it does not take that, pilot-agent is ended by signals",
    why: "a plain Envoy beside the command is quit, too",
  },
  {
    id: "pkill-first",
    rivals: ["scuttle-redbox"],
    theirs: "without `ISTIO_QUIT_API` it runs `pkill` in a shell",
    ours: "`ISTIO_QUIT_API` is deduced where `ENVOY_ADMIN_API` has port 15000, as kvij's scuttle does",
    why: "no shell, no pkill, no shared PID namespace",
  },
  {
    id: "fallback",
    rivals: ["scuttle"],
    theirs:
      "`ISTIO_FALLBACK_PKILL`, and pilot-agent's end by a signal where there is no `ISTIO_QUIT_API`, are redboxllc's alone",
    ours: "they are there, as last resort, without a shell or pkill",
    why: "one scuttle for both",
  },
  {
    id: "newer-variables",
    rivals: ["scuttle-redbox"],
    theirs: "`GENERIC_QUIT_ONLY` and `QUIT_REQUEST_TIMEOUT` are unknown",
    ours: "they mean what kvij's scuttle says",
    why: "one scuttle for both",
  },
  {
    id: "loopback",
    rivals: go,
    theirs: "a local sidecar is one whose URL contains `127.0.0.1` or `localhost`",
    ours: "`[::1]` is local, too, and it is the host that counts",
    why: "pods with IPv6 only",
  },
  {
    id: "slash",
    rivals: go,
    theirs: "a URL that ends with `/` leads to `//server_info`, `//quitquitquit`",
    ours: "one slash",
    why: "`http://127.0.0.1:15000/` is meant as it is without",
  },
  {
    id: "empty-variable",
    rivals: ["envoy-preflight", "linkerd-await"],
    theirs:
      "`ENVOY_ADMIN_API` or `ENVOY_KILL_API` that is set and empty is a URL that nobody answers, an empty `LINKERD_AWAIT_VERBOSE` a mistake",
    ours: "empty is unset",
    why: "charts set empty values",
  },
  {
    id: "bad-value",
    rivals: go,
    theirs: "a value that is not understood is ignored, a URL that is none is polled for ever",
    ours: "exit code 64, and what is wrong",
    why: "`NEVER_KILL_ISTIO=yes` that kills Istio is found before it does",
  },
  {
    id: "bare-seconds",
    rivals: [...scuttles, "linkerd-await"],
    theirs: "a duration without a unit is not understood",
    ours: "seconds",
    why: "what Kubernetes' own fields are",
  },
  {
    id: "stdout",
    rivals: [...scuttles, "pilot-agent"],
    theirs: "the log is on stdout, among the command's output",
    ours: "on stderr",
    why: "stdout is the command's alone",
  },
  {
    id: "usage-code",
    rivals: ["linkerd-await"],
    theirs: "a command line that is wrong is exit code 2",
    ours: "64",
    why: "one code for it in all of ebb",
  },
  {
    id: "uri",
    rivals: ["linkerd-await"],
    theirs: "`--uri` was there in its first releases only",
    ours: "it is taken",
    why: "old command lines go on to work",
  },
  {
    id: "half-answer",
    rivals: ["linkerd-await"],
    theirs: "status 200 is enough, even if the rest of the answer never comes",
    ours: "the answer must be whole",
    why: "a proxy that dies in the middle is not ready",
  },
  {
    id: "request-code",
    rivals: ["pilot-agent"],
    theirs: "what fails is exit code 255, and the answer's body is on stderr",
    ours: "1 for a status of 400 or more, with the body on stdout; 69 for no answer; 64 for a wrong command line",
    why: "a hook can tell them apart",
  },
  {
    id: "newline",
    rivals: ["pilot-agent"],
    theirs: "`request` writes a newline after the answer's body",
    ours: "the body as it came",
    why: "what is piped is what Envoy has sent",
  },
  {
    id: "debug-port",
    rivals: ["pilot-agent"],
    theirs: "`--debug-port` takes 15000, 15004, 15020 and 15021",
    ours: "any port",
    why: "`status.sidecar.istio.io/port` moves them",
  },
  {
    id: "not-found-passes",
    rivals: ["pilot-agent"],
    theirs: "`request` that is answered with 404 is exit code 0",
    ours: "1",
    why: "a quit that nobody knows did not work",
  },
  {
    id: "wait-code",
    rivals: ["pilot-agent"],
    theirs: "`wait` out of time is exit code 255",
    ours: "69, and 64 for a URL that is none",
    why: "one code for it in all of ebb",
  },
] as const satisfies readonly Listed[];

export type DifferenceId = (typeof differences)[number]["id"];
