import { hangs, notReady, quits, ready, status } from "../answers.ts";
import type { Case } from "../case.ts";
import type { Rival } from "../rivals.ts";
import { await_, caseOf, proxy, shutdown } from "../wrappers.ts";

const rivals: readonly Rival[] = ["linkerd-await"];
const quit = "4191 POST /shutdown";
const never = proxy(4191, ready)({ polls: [notReady] });
const nothing = { started: "unready", polls: [], requests: [] } as const;
const refused = { code: 64, started: "no", polls: [], requests: [] } as const;
const usage = [{ rivals, by: "usage-code", sees: { code: 2 } }] as const;

type Changed = Omit<Parameters<typeof caseOf>[1], "name">;

/** Returns a case without --shutdown, and with these flags. */
function plain(name: string, flags: readonly string[], changed: Changed = {}): Case {
  return caseOf(await_, { name, flags, ...changed });
}

/** Returns a case with --shutdown among these flags. */
function quitting(name: string, flags: readonly string[], changed: Changed = {}): Case {
  return caseOf(shutdown, { name, flags, ...changed });
}

/** The cases that only linkerd-await has: its flags and variables. */
export const linkerdCases: readonly Case[] = [
  ...ports(),
  ...timeouts(),
  ...otherFlags(),
  ...disabled(),
  ...commandLines(),
  ...answers(),
];

function ports(): readonly Case[] {
  const elsewhere = { servers: proxy(5191, ready)({}), sees: { polls: ["5191 GET /ready"] } };
  return [
    plain("-p 5191", ["-p", "5191", "--"], elsewhere),
    plain("-p5191", ["-p5191", "--"], elsewhere),
    plain("--port 5191", ["--port", "5191", "--"], elsewhere),
    plain("--port=5191", ["--port=5191", "--"], elsewhere),
    plain("-p +5191", ["-p", "+5191", "--"], elsewhere),
    quitting("--port 5191", ["--port", "5191", "-S", "--"], {
      servers: proxy(5191, ready)({}),
      sees: { polls: ["5191 GET /ready"], requests: ["5191 POST /shutdown"] },
    }),
    ...["x", "70000", "-1", ""].map((port) =>
      plain(`--port=${port} is refused`, [`--port=${port}`, "--"], { sees: refused, differs: usage }),
    ),
    plain("-p without a number is refused", ["-p"], { command: [], sees: refused, differs: usage }),
  ];
}

function timeouts(): readonly Case[] {
  const failed = { code: 69, started: "no" } as const;
  const started = { started: "unready" } as const;
  const time = (name: string, flags: readonly string[], changed: Changed) =>
    plain(name, [...flags, "--"], { servers: never, ...changed });
  return [
    time("--timeout 400ms", ["--timeout", "400ms"], { atLeastMs: 400, sees: failed }),
    time("--timeout ' 400ms'", ["--timeout", " 400ms"], { atLeastMs: 400, sees: failed }),
    time("-t 400ms", ["-t", "400ms"], { atLeastMs: 400, sees: failed }),
    time("-t400ms", ["-t400ms"], { atLeastMs: 400, sees: failed }),
    time("--timeout=1s", ["--timeout=1s"], { atLeastMs: 1000, sees: failed }),
    time("--timeout, and a proxy that answers nothing", ["--timeout=400ms"], {
      servers: proxy(4191, ready)({ polls: [hangs] }),
      atLeastMs: 400,
      sees: failed,
    }),
    time("--timeout, and no proxy", ["--timeout=400ms"], {
      servers: [],
      atLeastMs: 400,
      sees: { ...failed, polls: [] },
    }),
    time("--timeout-fatal: a timeout is fatal", ["--timeout=400ms", "--timeout-fatal"], {
      atLeastMs: 400,
      sees: failed,
    }),
    time("--timeout-fatal=true", ["--timeout=400ms", "--timeout-fatal=true"], { atLeastMs: 400, sees: failed }),
    time("--timeout-fatal=false: the command is started then", ["--timeout=400ms", "--timeout-fatal=false"], {
      atLeastMs: 400,
      sees: started,
    }),
    quitting("--timeout-fatal=false", ["--timeout=400ms", "--timeout-fatal=false", "-S", "--"], {
      servers: never,
      atLeastMs: 400,
      command: ["app", "exit", "4"],
      sees: { ...started, code: 4 },
    }),
    quitting("--timeout is fatal, and the proxy is told", ["--timeout=400ms", "-S", "--"], {
      servers: never,
      atLeastMs: 400,
      sees: failed,
      differs: [{ rivals, by: "wait-timeout", sees: { requests: [] } }],
    }),
    plain("--timeout 1h: ready is noticed before", ["--timeout", "1h", "--"]),
    ...["0", "0s"].map((value) =>
      plain(`--timeout=${value} is none`, [`--timeout=${value}`, "--"], {
        servers: proxy(4191, ready)({ polls: [notReady, notReady, ready] }),
      }),
    ),
    ...["soon", "1x", "-1s"].map((value) =>
      plain(`--timeout=${value} is refused`, [`--timeout=${value}`, "--"], { sees: refused, differs: usage }),
    ),
    plain("--timeout=1: a number alone is seconds", ["--timeout=1", "--"], {
      servers: never,
      atLeastMs: 1000,
      sees: failed,
      differs: [{ rivals, by: "bare-seconds", sees: { code: 2, polls: [] } }],
    }),
    plain("--timeout-fatal=maybe is refused", ["--timeout-fatal=maybe", "--"], { sees: refused, differs: usage }),
    plain("--timeout-fatal takes no word of its own", ["--timeout-fatal", "app"], {
      command: ["/none/none"],
      sees: { code: 127, started: "no" },
      differs: [{ rivals, by: "not-started", sees: { code: 71 } }],
    }),
  ];
}

function otherFlags(): readonly Case[] {
  const verbose = { env: { LINKERD_AWAIT_DISABLED: "because" }, servers: never, sees: nothing };
  return [
    ...[["--backoff", "100ms"], ["--backoff=1s"], ["-b", "2s"]].map((flags) =>
      plain(flags.join(" "), [...flags, "--"], { servers: proxy(4191, ready)({ polls: [notReady, ready] }) }),
    ),
    plain("--backoff=soon is refused", ["--backoff=soon", "--"], { sees: refused, differs: usage }),
    ...[["-v"], ["--verbose"]].map((flags) =>
      plain(`${flags} says that it is switched off`, [...flags, "--"], { ...verbose, says: ["because"] }),
    ),
    plain("LINKERD_AWAIT_VERBOSE=true says that it is switched off", ["--"], {
      ...verbose,
      env: { ...verbose.env, LINKERD_AWAIT_VERBOSE: "true" },
      says: ["because"],
    }),
    plain("LINKERD_AWAIT_VERBOSE=false", ["--"], {
      ...verbose,
      env: { ...verbose.env, LINKERD_AWAIT_VERBOSE: "false" },
    }),
    plain("it says nothing", ["--"], { says: [] }),
    ...["1", "yes", "TRUE"].map((value) =>
      plain(`LINKERD_AWAIT_VERBOSE=${value} is refused`, ["--"], {
        env: { LINKERD_AWAIT_VERBOSE: value },
        sees: refused,
        says: ["LINKERD_AWAIT_VERBOSE"],
        differs: usage,
      }),
    ),
    plain("an empty LINKERD_AWAIT_VERBOSE is none", ["--"], {
      env: { LINKERD_AWAIT_VERBOSE: "" },
      differs: [{ rivals, by: "empty-variable", sees: { code: 2, started: "no", polls: [] } }],
    }),
    ...[
      ["-u", "http://127.0.0.1:5191/live/ready"],
      ["--uri", "http://127.0.0.1:5191/live/ready"],
      ["--uri=http://127.0.0.1:5191/live/ready"],
    ].map((flags) =>
      plain(flags.join(" "), [...flags, "--"], {
        servers: proxy(5191, ready)({}),
        sees: { polls: ["5191 GET /live/ready"] },
        differs: [{ rivals, by: "uri", sees: { code: 2, started: "no", polls: [] } }],
      }),
    ),
    plain("--uri=nonsense is refused", ["--uri=nonsense", "--"], { sees: refused, differs: usage }),
    plain("an unknown flag is refused", ["--unknown", "--"], { sees: refused, differs: usage }),
    plain("flags in one word", ["-vS", "--"], { sees: { requests: [quit] } }),
    plain("--version", ["--version"], {
      command: [],
      hasOwnStdout: true,
      sees: { ...refused, code: 0, stdout: "(some)" },
    }),
    plain("--help", ["--help"], { command: [], hasOwnStdout: true, sees: { ...refused, code: 0, stdout: "(some)" } }),
  ];
}

function disabled(): readonly Case[] {
  const off = (name: string, variable: string, value: string) => [
    plain(name, ["--"], { env: { [variable]: value }, servers: never, sees: nothing }),
    quitting(`${name}, and --shutdown`, ["-S", "--"], { env: { [variable]: value }, servers: never, sees: nothing }),
  ];
  return [
    ...off("LINKERD_AWAIT_DISABLED with a reason", "LINKERD_AWAIT_DISABLED", "Linkerd is disabled ;("),
    ...off("LINKERD_DISABLED=true", "LINKERD_DISABLED", "true"),
    ...off("LINKERD_AWAIT_DISABLED=false is a reason, too", "LINKERD_AWAIT_DISABLED", "false"),
    plain("an empty LINKERD_AWAIT_DISABLED is none", ["--"], { env: { LINKERD_AWAIT_DISABLED: "" } }),
    plain("an empty LINKERD_DISABLED is none", ["--"], { env: { LINKERD_DISABLED: "" } }),
    plain("switched off, a timeout does not matter", ["--timeout=1ms", "--"], {
      env: { LINKERD_DISABLED: "1" },
      servers: never,
      sees: nothing,
    }),
  ];
}

function commandLines(): readonly Case[] {
  return [
    plain("without a command it waits", [], {
      servers: proxy(4191, ready)({ polls: [notReady, notReady, ready] }),
      command: [],
      sees: { started: "no" },
    }),
    plain("without a command, with a timeout", ["--timeout=400ms"], {
      servers: never,
      command: [],
      sees: { code: 69, started: "no" },
    }),
    quitting("without a command", ["-S"], { command: [], sees: refused, differs: usage }),
    plain("the command without --", []),
    quitting("the command without --", ["-S"], { command: ["app", "exit", "3"], sees: { code: 3 } }),
    quitting("flags after the command, as Argo Workflows has them", [], {
      command: ["sleep", "0", "--shutdown"],
      sees: { started: "no" },
    }),
    plain("after -- all is the command's", ["--"], {
      command: ["app", "words", "--shutdown", "-p", "1", "--", "--port"],
      sees: { stdout: "--shutdown\n-p\n1\n--\n--port\n" },
    }),
    plain("--help after the command, without --, is its own", [], {
      command: ["./cmd", "--help"],
      hasOwnStdout: true,
      sees: { ...refused, code: 0, stdout: "(some)" },
    }),
    plain("an unknown flag after the command is refused without --", [], {
      command: ["app", "words", "--unknown"],
      sees: refused,
      says: ["--unknown"],
      differs: usage,
    }),
  ];
}

function answers(): readonly Case[] {
  const first = (name: string, answer: typeof ready, changed: Changed = {}) =>
    plain(name, ["--"], { servers: proxy(4191, ready)({ polls: [answer, ready] }), ...changed });
  return [
    first("status 204 is ready", { ...status(204), isReady: true }),
    first("status 299 is ready", { ...status(299), isReady: true }),
    first("status 302 is not ready", status(302, "", ["location: http://127.0.0.1:4191/ready"])),
    quitting("nobody takes the shutdown", ["-S", "--"], {
      servers: [{ port: 4191, polls: [ready], others: [status(403)] }],
      command: ["app", "exit", "2"],
      sees: { code: 2 },
    }),
    quitting("the proxy answers the shutdown, and stays", ["-S", "--"], {
      servers: [{ port: 4191, polls: [ready], others: [status(200), quits] }],
      isSlow: true,
    }),
  ];
}
