import { type Answer, closes, garbage, hangs, quits, raw, resets, status } from "../answers.ts";
import type { Case, Differs, Seen } from "../case.ts";
import type { DifferenceId } from "../differences.ts";
import type { Rival } from "../rivals.ts";
import { await_, caseOf, preflight, scuttle, shutdown, valet, type Wrapper } from "../wrappers.ts";

const SIG = { HUP: 1, INT: 2, QUIT: 3, KILL: 9, USR1: 10, SEGV: 11, USR2: 12, TERM: 15, WINCH: 28 } as const;

const go: readonly Rival[] = ["scuttle", "scuttle-redbox", "envoy-preflight"];

/** The cases that all tools have in common that wait and then run a command. */
export const wrapperCases: readonly Case[] = [scuttle, preflight, shutdown, await_, valet].flatMap((wrapper) => [
  ...exitCodes(wrapper),
  ...commands(wrapper),
  ...inheritance(wrapper),
  ...readiness(wrapper),
  ...signals(wrapper),
  ...asPid1(wrapper),
  ...(wrapper.quit === undefined ? [] : quitting(wrapper, wrapper.quit)),
]);

/** Returns what rivals in Go, and linkerd-await --shutdown, do differently, if this wrapper is theirs. */
function differs(
  wrapper: Wrapper,
  by: DifferenceId | readonly DifferenceId[],
  { inGo, inShutdown }: { inGo?: Partial<Seen>; inShutdown?: Partial<Seen> },
): { readonly differs?: readonly Differs[] } {
  const ofGo = wrapper.rivals.filter((rival) => go.includes(rival));
  if (ofGo.length > 0) return inGo === undefined ? {} : { differs: [{ rivals: ofGo, by, sees: inGo }] };
  if (wrapper !== shutdown || inShutdown === undefined) return {};
  return { differs: [{ rivals: wrapper.rivals, by, sees: inShutdown }] };
}

/** Returns what all rivals of a wrapper do differently. */
function anywhere(
  { rivals }: Wrapper,
  by: DifferenceId,
  sees: Partial<Seen>,
): { readonly differs?: readonly Differs[] } {
  return rivals.length === 0 ? {} : { differs: [{ rivals, by, sees }] };
}

function exitCodes(wrapper: Wrapper): readonly Case[] {
  const codes = [0, 1, 3, 64, 69, 255].map((code) =>
    caseOf(wrapper, { name: `exit code ${code}`, command: ["app", "exit", `${code}`], sees: { code } }),
  );
  const deaths = (["TERM", "KILL", "SEGV"] as const).map((name) =>
    caseOf(wrapper, {
      name: `the command is ended by SIG${name}`,
      command: ["app", "die", `${SIG[name]}`],
      sees: { code: 128 + SIG[name] },
      ...differs(wrapper, "signal-death", { inGo: { code: 255 }, inShutdown: { code: 71 } }),
    }),
  );
  return [...codes, ...deaths];
}

function commands(wrapper: Wrapper): readonly Case[] {
  const unstartable = [
    { name: "a command that is not there", command: ["/none/none"], code: 127 },
    { name: "a command that is not in PATH", command: ["no-such-command"], code: 127 },
    { name: "a command that is not executable", command: ["/etc/passwd"], code: 126 },
    { name: "a command that is a folder", command: ["/etc"], code: 126 },
  ].map(({ name, command, code }) =>
    caseOf(wrapper, {
      name,
      command,
      sees: { code, started: "no" },
      ...differs(wrapper, "not-started", { inGo: { code: 2, requests: [] }, inShutdown: { code: 71 } }),
      ...(wrapper === await_
        ? { differs: [{ rivals: wrapper.rivals, by: "not-started", sees: { code: 71 } }] as const }
        : {}),
    }),
  );
  return [
    ...unstartable,
    caseOf(wrapper, {
      name: "a command is looked for in PATH",
      command: ["sh", "-c", "exit 5"],
      sees: { code: 5, started: "no" },
    }),
    caseOf(wrapper, {
      name: "the command's arguments are its own, whatever they look like",
      command: ["app", "words", "--help", "-S", "--", "", "a b", "ä", "--port=1", "-"],
      sees: { stdout: "--help\n-S\n--\n\na b\nä\n--port=1\n-\n" },
    }),
  ];
}

function inheritance(wrapper: Wrapper): readonly Case[] {
  const env = {
    ...wrapper.env,
    HTTP_PROXY: "http://127.0.0.1:1",
    http_proxy: "http://127.0.0.1:1",
    NO_PROXY: "example.com",
    BUN_OPTIONS: "--smol",
    GODEBUG: "x=1",
    EMPTY: "",
  };
  const stdout = Object.entries({ PATH: process.env.PATH ?? "", ...env }).map(([name, value]) => `${name}=${value}\n`);
  return [
    caseOf(wrapper, {
      name: "the command gets the environment as it is, and proxy variables change nothing",
      env,
      command: ["app", "environment"],
      sees: { stdout: stdout.join("") },
    }),
    caseOf(wrapper, {
      name: "stdin and stdout are the command's",
      command: ["app", "stdin", "out", "done", "exit", "4"],
      stdin: "one\ntwo\n",
      sees: { code: 4, stdout: "one\ntwo\ndone\n" },
    }),
  ];
}

function readiness(wrapper: Wrapper): readonly Case[] {
  const { servers, yes, notYet } = wrapper;
  const later = (name: string, ...before: readonly (typeof yes)[]) =>
    caseOf(wrapper, { name, servers: servers({ polls: [...before, yes] }) });
  return [
    later("ready after three polls", notYet, notYet, notYet),
    later("ready after a 404", status(404)),
    later("ready after a 500", status(500, "oops")),
    later("ready after an answer that is no HTTP", garbage),
    later("ready after a connection that is reset", resets),
    later("ready after a connection that is closed without an answer", closes),
    {
      ...later("ready after half an answer", raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")),
      ...(wrapper.as === "linkerd-await"
        ? { differs: [{ rivals: wrapper.rivals, by: "half-answer", sees: { started: "unready" } }] as const }
        : {}),
    },
    caseOf(wrapper, {
      name: "the proxy listens late",
      servers: servers({}).map((server) => ({ ...server, afterMs: 300 })),
      atLeastMs: 300,
    }),
    caseOf(wrapper, {
      name: "the first poll hangs, the second is answered",
      servers: servers({ polls: [hangs, yes] }),
      ...differs(wrapper, "hanging-poll", { inGo: { code: "still running", started: "no", requests: [] } }),
    }),
  ];
}

/** Returns the cases as PID 1, for which the kernel has no default actions. */
function asPid1(wrapper: Wrapper): readonly Case[] {
  const { servers, notYet } = wrapper;
  const waits = { code: "still running", requests: [] } as const;
  const stopped = wrapper.as === "linkerd-await" ? waits : ({ code: 2, requests: [] } as const);
  const killed = caseOf(wrapper, {
    name: "the command of PID 1 is ended by SIGKILL",
    isPid1: true,
    command: ["app", "die", `${SIG.KILL}`],
    sees: { code: 137 },
    ...differs(wrapper, "signal-death", { inGo: { code: 255 }, inShutdown: { code: 71 } }),
  });
  return [
    caseOf(wrapper, {
      name: "SIGTERM while it waits as PID 1",
      isPid1: true,
      servers: servers({ polls: [notYet] }),
      steps: [{ once: { polls: 2 }, act: { signal: SIG.TERM } }],
      sees: { code: 143, started: "no" },
      ...anywhere(wrapper, "stop-while-waiting", stopped),
    }),
    caseOf(wrapper, {
      name: "SIGTERM reaches the command of PID 1",
      isPid1: true,
      command: ["app", "until", `${SIG.TERM}`, "9"],
      steps: [{ once: "started", act: { signal: SIG.TERM } }],
      sees: { code: 9, signals: [SIG.TERM] },
    }),
    ...(wrapper.quit === undefined ? [] : [killed]),
  ];
}

function signals(wrapper: Wrapper): readonly Case[] {
  const { servers, notYet, yes } = wrapper;
  const waiting = servers({ polls: [notYet, yes] }).map((server) =>
    server.polls === undefined ? server : { ...server, polls: [...Array(600).fill(notYet), yes] },
  );
  const whileWaiting = ([SIG.TERM, SIG.INT] as const).map((signal) =>
    caseOf(wrapper, {
      name: `signal ${signal} while it waits`,
      servers: servers({ polls: [notYet] }),
      steps: [{ once: { polls: 2 }, act: { signal } }],
      sees: { code: 128 + signal, started: "no" },
      ...(wrapper.quitsAt(143)
        ? differs(wrapper, "stop-while-waiting", { inGo: { requests: [] }, inShutdown: { requests: [] } })
        : {}),
    }),
  );
  const all = [SIG.HUP, SIG.INT, SIG.QUIT, SIG.USR1, SIG.USR2, SIG.WINCH, SIG.TERM];
  return [
    ...whileWaiting,
    caseOf(wrapper, {
      name: "a window that changes its size while it waits is no reason to end",
      servers: waiting,
      steps: [
        { once: { polls: 1 }, act: { signal: SIG.WINCH } },
        { once: { polls: 3 }, act: "ready" },
      ],
    }),
    caseOf(wrapper, {
      name: "SIGHUP while it waits is no reason to end, SIGTERM then is",
      servers: servers({ polls: [notYet] }),
      steps: [
        { once: { polls: 1 }, act: { signal: SIG.HUP } },
        { once: { polls: 4 }, act: { signal: SIG.TERM } },
      ],
      sees: { code: 143, started: "no" },
      ...anywhere(wrapper, "hang-up", { code: 129, requests: [] }),
    }),
    caseOf(wrapper, {
      name: "signals reach the command",
      command: ["app", "until", `${SIG.TERM}`, "6"],
      steps: all.map((signal, at) => ({ once: at === 0 ? "started" : { signals: at }, act: { signal } })),
      sees: { code: 6, signals: all },
      ...differs(wrapper, "only-sigterm", { inShutdown: { code: 128 + SIG.HUP, signals: [], requests: [] } }),
    }),
    caseOf(wrapper, {
      name: "signals reach the command each time",
      command: ["app", "until", `${SIG.USR1}`, "0"],
      steps: [SIG.TERM, SIG.TERM, SIG.INT, SIG.USR1].map((signal, at) => ({
        once: at === 0 ? "started" : { signals: at },
        act: { signal },
      })),
      sees: { signals: [SIG.TERM, SIG.TERM, SIG.INT, SIG.USR1] },
      ...differs(wrapper, "only-sigterm", { inShutdown: { code: "still running", signals: [SIG.TERM], requests: [] } }),
    }),
    caseOf(wrapper, {
      name: "a real-time signal reaches the command",
      command: ["app", "until", "34", "8"],
      steps: [{ once: "started", act: { signal: 34 } }],
      sees: { code: 8, signals: [34] },
      ...differs(wrapper, "real-time", {
        inGo: { code: 128 + 34, signals: [], requests: [] },
        inShutdown: { code: 128 + 34, signals: [], requests: [] },
      }),
    }),
    caseOf(wrapper, {
      name: "SIGUSR1 while it waits is no reason to end, SIGTERM then is",
      servers: servers({ polls: [notYet] }),
      steps: [
        { once: { polls: 1 }, act: { signal: SIG.USR1 } },
        { once: { polls: 4 }, act: { signal: SIG.TERM } },
      ],
      sees: { code: 143, started: "no" },
      ...(wrapper.as === "linkerd-await" ? anywhere(wrapper, "early-signal", { code: 138, requests: [] }) : {}),
      ...(wrapper.quitsAt(143) ? differs(wrapper, "stop-while-waiting", { inGo: { requests: [] } }) : {}),
    }),
    caseOf(wrapper, {
      name: "SIGTERM ends the command, which has no handler",
      command: ["app", "sleep", "60000"],
      steps: [{ once: "started", act: { signal: SIG.TERM } }],
      sees: { code: 143 },
      ...differs(wrapper, "signal-death", { inGo: { code: 255 }, inShutdown: { code: 71 } }),
    }),
  ];
}

function quitting(wrapper: Wrapper, quit: string): readonly Case[] {
  const { servers } = wrapper;
  const once = { inGo: { requests: [quit] }, inShutdown: { requests: [quit] } };
  const repeated = { sees: { requests: [quit, `${quit} again`] }, ...differs(wrapper, "quit-again", once) };
  const answered = (name: string, answers: readonly Answer[], more: Partial<Parameters<typeof caseOf>[1]> = {}) =>
    caseOf(wrapper, { name: `the quit is ${name}`, servers: servers({ quit: answers }), ...more });
  const soon = wrapper === scuttle ? { env: { QUIT_REQUEST_TIMEOUT: "700ms" } } : { isSlow: true as const };
  return [
    answered("answered with 404", [status(404)]),
    answered("answered with 202", [{ ...status(202), isQuit: true }]),
    answered("answered with 503, then with 200", [status(503), quits], repeated),
    answered("reset, then answered with 200", [resets, quits], repeated),
    answered("answered with 500", [status(500)], { ...soon, ...repeated }),
    answered("not answered", [hangs], {
      ...soon,
      ...(wrapper === scuttle
        ? { differs: [{ rivals: ["scuttle-redbox"], by: "quit-timeout", sees: { code: "still running" } }] }
        : differs(wrapper, "quit-timeout", { inGo: { code: "still running" }, inShutdown: { code: "still running" } })),
    }),
  ];
}
