import { initializing, live, quits, state, status } from "../answers.ts";
import type { Case, Seen } from "../case.ts";
import { caseOf, preflight, proxy } from "../wrappers.ts";

const both = preflight.rivals;
const quit = "9901 POST /quitquitquit";
const nothing = { started: "unready", polls: [], requests: [] } as const;
const refused = { code: 64, started: "no", polls: [], requests: [] } as const;
const never = proxy(9901, live)({ polls: [initializing] });
const killApi = { ENVOY_KILL_API: "http://127.0.0.1:15020/quitquitquit" };
const withAgent = [
  { port: 9901, polls: [live], others: [] },
  { port: 15020, others: [quits], ends: [15020, 9901] },
];

function one(name: string, changed: Omit<Parameters<typeof caseOf>[1], "name">): Case {
  return caseOf(preflight, { name, ...changed });
}

/** The cases that only envoy-preflight has: its variables, each with each kind of value. */
export const preflightCases: readonly Case[] = [
  ...admin(),
  ...states(),
  ...killing(),
  ...booleans(),
  ...starting(),
  ...commandLines(),
];

function admin(): readonly Case[] {
  return [
    one("without ENVOY_ADMIN_API nothing is waited for, and nothing is quit", {
      env: { ENVOY_ADMIN_API: undefined },
      servers: never,
      sees: nothing,
    }),
    one("ENVOY_KILL_API without ENVOY_ADMIN_API quits nothing", {
      env: { ENVOY_ADMIN_API: undefined, ...killApi },
      servers: withAgent,
      sees: nothing,
    }),
    one("an empty ENVOY_ADMIN_API is none", {
      env: { ENVOY_ADMIN_API: "" },
      sees: nothing,
      differs: [{ rivals: both, by: "empty-variable", sees: { code: "still running", started: "no" } }],
    }),
    one("ENVOY_ADMIN_API says localhost", { env: { ENVOY_ADMIN_API: "http://localhost:9901" } }),
    one("ENVOY_ADMIN_API has Istio's port: Envoy is told, as ever", {
      env: { ENVOY_ADMIN_API: "http://127.0.0.1:15000" },
      servers: [
        { port: 15000, polls: [live], others: [quits], ends: [15000, 15020] },
        { port: 15020, others: [quits], ends: [15000, 15020] },
      ],
      sees: { polls: ["15000 GET /server_info"], requests: ["15000 POST /quitquitquit"] },
    }),
    one("ENVOY_ADMIN_API ends with a slash", {
      env: { ENVOY_ADMIN_API: "http://127.0.0.1:9901/" },
      differs: [
        {
          rivals: both,
          by: "slash",
          sees: {
            code: "still running",
            started: "no",
            polls: [],
            requests: ["9901 GET //server_info", "9901 GET //server_info again"],
          },
        },
      ],
    }),
    one("ENVOY_ADMIN_API is not of this pod: it is waited for, and not quit", {
      env: { ENVOY_ADMIN_API: "http://0.0.0.0:9901", ...killApi },
      servers: withAgent,
      sees: { requests: [] },
    }),
    one("ENVOY_ADMIN_API is IPv6's loopback", {
      env: { ENVOY_ADMIN_API: "http://[::1]:9901" },
      servers: proxy(9901, live)({}).map((server) => ({ ...server, host: "::1" })),
      differs: [{ rivals: both, by: "loopback", sees: { requests: [] } }],
    }),
    one("ENVOY_ADMIN_API=nonsense is refused", {
      env: { ENVOY_ADMIN_API: "nonsense" },
      sees: refused,
      says: ["ENVOY_ADMIN_API"],
      differs: [{ rivals: both, by: "bad-value", sees: { code: "still running" } }],
    }),
  ];
}

function states(): readonly Case[] {
  return [
    ...["PRE_INITIALIZING", "INITIALIZING", "DRAINING"].map((name) =>
      one(`${name} is not ready`, { servers: proxy(9901, live)({ polls: [state(name), live] }) }),
    ),
    one("LIVE with status 503 is not ready", {
      servers: proxy(9901, live)({ polls: [state("LIVE", 503), live] }),
      differs: [{ rivals: both, by: "status", sees: { started: "unready" } }],
    }),
    one("a redirect is not followed", {
      servers: proxy(9901, live)({ polls: [status(302, "", ["location: http://127.0.0.1:9901/other"]), live] }),
    }),
  ];
}

function killing(): readonly Case[] {
  const told = "15020 POST /quitquitquit";
  return [
    one("ENVOY_KILL_API is told instead", { env: killApi, servers: withAgent, sees: { requests: [told] } }),
    one("ENVOY_KILL_API is taken as it is", {
      env: { ENVOY_KILL_API: "http://127.0.0.1:15020/a/b?c=d" },
      servers: withAgent,
      sees: { requests: ["15020 POST /a/b?c=d"] },
    }),
    one("ENVOY_KILL_API ends with a slash", {
      env: { ENVOY_KILL_API: "http://127.0.0.1:15020/stop/" },
      servers: withAgent,
      sees: { requests: ["15020 POST /stop/"] },
    }),
    one("ENVOY_KILL_API, exit code 1", {
      env: killApi,
      servers: withAgent,
      command: ["app", "exit", "1"],
      sees: { code: 1, requests: [] },
    }),
    one("an empty ENVOY_KILL_API is none", {
      env: { ENVOY_KILL_API: "" },
      differs: [{ rivals: both, by: "empty-variable", sees: { requests: [] } }],
    }),
    one("ENVOY_KILL_API=nonsense is refused", {
      env: { ENVOY_KILL_API: "nonsense" },
      sees: refused,
      says: ["ENVOY_KILL_API"],
      differs: [
        {
          rivals: both,
          by: "bad-value",
          sees: { code: 0, started: "when ready", polls: [preflight.poll], requests: [] },
        },
      ],
    }),
  ];
}

function booleans(): readonly Case[] {
  const policies: readonly (readonly [Record<string, string>, (code: number) => boolean])[] = [
    [{ ALWAYS_KILL_ENVOY: "true" }, () => true],
    [{ ALWAYS_KILL_ENVOY: "false" }, (code) => code === 0],
    [{ ALWAYS_KILL_ENVOY: "" }, (code) => code === 0],
    [{ NEVER_KILL_ENVOY: "true" }, () => false],
    [{ NEVER_KILL_ENVOY: "false" }, (code) => code === 0],
    [{ NEVER_KILL_ENVOY: "true", ALWAYS_KILL_ENVOY: "true" }, () => false],
  ];
  const valid = policies.flatMap(([env, quitsAt]) =>
    [0, 1].map((code) =>
      one(`${JSON.stringify(env)}, exit code ${code}`, {
        env,
        command: ["app", "exit", `${code}`],
        sees: { code, requests: quitsAt(code) ? [quit] : [] },
      }),
    ),
  );
  const asDefault: Partial<Seen> = { code: 0, started: "when ready", polls: [preflight.poll], requests: [quit] };
  const bad = ["ALWAYS_KILL_ENVOY", "NEVER_KILL_ENVOY", "START_WITHOUT_ENVOY"].flatMap((name) =>
    ["yes", "1", "TRUE"].map((value) =>
      one(`${name}=${value} is refused`, {
        env: { [name]: value },
        sees: refused,
        says: [name],
        differs: [{ rivals: both, by: "bad-value", sees: asDefault }],
      }),
    ),
  );
  return [...valid, ...bad];
}

function starting(): readonly Case[] {
  return [
    one("START_WITHOUT_ENVOY=true: nothing is polled, but quit", {
      env: { START_WITHOUT_ENVOY: "true" },
      servers: never,
      sees: { started: "unready", polls: [] },
    }),
    one("START_WITHOUT_ENVOY=false is the default", { env: { START_WITHOUT_ENVOY: "false" } }),
    one("it waits until it is told to stop", {
      servers: never,
      steps: [{ once: { polls: 4 }, act: { signal: 15 } }],
      sees: { code: 143, started: "no" },
    }),
    one("ALWAYS_KILL_ENVOY=true, SIGTERM while it waits", {
      env: { ALWAYS_KILL_ENVOY: "true" },
      servers: never,
      steps: [{ once: { polls: 2 }, act: { signal: 15 } }],
      sees: { code: 143, started: "no", requests: [quit] },
      differs: [{ rivals: both, by: "stop-while-waiting", sees: { requests: [] } }],
    }),
    one("it says nothing", { says: [] }),
    one("scuttle's variables are not envoy-preflight's", {
      env: { QUIT_WITHOUT_ENVOY_TIMEOUT: "1ms", NEVER_KILL_ISTIO: "true", ISTIO_QUIT_API: "http://127.0.0.1:15020" },
      servers: proxy(9901, live)({ polls: [initializing, initializing, live] }),
    }),
  ];
}

function commandLines(): readonly Case[] {
  return [
    one("-- before the command is no part of it", {
      flags: ["--"],
      differs: [{ rivals: both, by: "double-dash", sees: { code: 2, started: "no", requests: [] } }],
    }),
    one("without a command it says so", {
      command: [],
      sees: refused,
      differs: [{ rivals: both, by: "no-command", sees: { code: 0, polls: [preflight.poll] } }],
    }),
    one("a command that is not there, ALWAYS_KILL_ENVOY=true", {
      env: { ALWAYS_KILL_ENVOY: "true" },
      command: ["/none/none"],
      sees: { code: 127, started: "no", requests: [quit] },
      differs: [{ rivals: both, by: "not-started", sees: { code: 2, requests: [] } }],
    }),
  ];
}
