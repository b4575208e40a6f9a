import { type Answer, hangs, initializing, live, quits, status } from "../answers.ts";
import type { Case, Server } from "../case.ts";
import { istio, scuttle } from "../wrappers.ts";
import { nothing, one, plain, quit, refused } from "./scuttle-case.ts";

const both = scuttle.rivals;
const kvij = ["scuttle"] as const;
const redbox = ["scuttle-redbox"] as const;

/** The cases of whom scuttle tells to quit, and when. */
export const scuttleQuitting: readonly Case[] = [...quitApi(), ...neverKill(), ...failing(), ...generics()];

function generic(port: number, answers: readonly Answer[] = [status(200)]): Server {
  return { port, others: answers, ends: [] };
}

function quitApi(): readonly Case[] {
  return [
    one("ISTIO_QUIT_API is deduced where ENVOY_ADMIN_API has Istio's port", {
      env: { ISTIO_QUIT_API: undefined },
      differs: [{ rivals: redbox, by: "pkill-first", sees: { requests: [] } }],
    }),
    one("an empty ISTIO_QUIT_API is deduced", {
      env: { ISTIO_QUIT_API: "" },
      differs: [{ rivals: redbox, by: "pkill-first", sees: { requests: [] } }],
    }),
    one("ISTIO_QUIT_API is deduced from localhost", {
      env: { ENVOY_ADMIN_API: "http://localhost:15000", ISTIO_QUIT_API: undefined },
      differs: [{ rivals: redbox, by: "pkill-first", sees: { requests: [] } }],
    }),
    one("ISTIO_QUIT_API is deduced with ENVOY_ADMIN_API's path and userinfo", {
      env: { ENVOY_ADMIN_API: "http://a:b@127.0.0.1:15000/envoy", ISTIO_QUIT_API: undefined },
      sees: { polls: ["15000 GET /envoy/server_info"], requests: ["15020 POST /envoy/quitquitquit"] },
      differs: [{ rivals: redbox, by: "pkill-first", sees: { requests: [] } }],
    }),
    one("ISTIO_QUIT_API has another port", {
      env: { ISTIO_QUIT_API: "http://127.0.0.1:16020" },
      servers: [
        { port: 15000, polls: [live] },
        { port: 16020, others: [quits], ends: [16020, 15000] },
      ],
      sees: { requests: ["16020 POST /quitquitquit"] },
    }),
    one("ISTIO_QUIT_API has a path", {
      env: { ISTIO_QUIT_API: "http://127.0.0.1:15020/agent" },
      sees: { requests: ["15020 POST /agent/quitquitquit"] },
    }),
    one("ISTIO_QUIT_API ends with a slash", {
      env: { ISTIO_QUIT_API: "http://127.0.0.1:15020/" },
      differs: [{ rivals: both, by: "slash", sees: { requests: ["15020 POST //quitquitquit"] } }],
    }),
    ...["nonsense", "127.0.0.1:15020"].map((value) =>
      one(`ISTIO_QUIT_API=${value} is refused`, {
        env: { ISTIO_QUIT_API: value },
        sees: refused,
        says: ["ISTIO_QUIT_API"],
        differs: [{ rivals: both, by: "bad-value", sees: { ...plain, requests: [] } }],
      }),
    ),
    ...["+1s", "-0s"].map((value) =>
      one(`QUIT_REQUEST_TIMEOUT=${value} has a sign`, {
        env: { QUIT_REQUEST_TIMEOUT: value },
        ...(value === "-0s" && { differs: [{ rivals: kvij, by: "no-time-to-quit", sees: { requests: [] } }] }),
      }),
    ),
    one("ENVOY_ADMIN_API has IPv4's loopback in IPv6", {
      env: { ENVOY_ADMIN_API: "http://[::ffff:127.0.0.1]:15000" },
    }),
    one("where nobody listens, and Envoy was never seen, the quit is tried until its time is over", {
      env: { START_WITHOUT_ENVOY: "true", QUIT_REQUEST_TIMEOUT: "700ms" },
      servers: [],
      sees: { started: "unready", polls: [], requests: [] },
      isSlow: true,
    }),
    one("a proxy that takes the quit and stays is watched until its time is over", {
      env: { QUIT_REQUEST_TIMEOUT: "700ms" },
      servers: [
        { port: 15000, polls: [live] },
        { port: 15020, others: [status(200)], ends: [] },
      ],
      atMostMs: 5000,
    }),
    one("GENERIC_QUIT_ONLY=true waits for nobody whom it has not told", {
      env: {
        GENERIC_QUIT_ONLY: "true",
        GENERIC_QUIT_ENDPOINTS: "http://127.0.0.1:8081/stop",
        QUIT_REQUEST_TIMEOUT: "20s",
      },
      servers: [...istio({}), generic(8081)],
      sees: { requests: ["8081 POST /stop"] },
      atMostMs: 10_000,
      differs: [{ rivals: redbox, by: "newer-variables", sees: { requests: ["8081 POST /stop", quit] } }],
    }),
    one("ISTIO_QUIT_API without ENVOY_ADMIN_API quits nothing", {
      env: { ENVOY_ADMIN_API: undefined },
      sees: nothing,
    }),
    one("nobody listens at ISTIO_QUIT_API", {
      env: { QUIT_REQUEST_TIMEOUT: "500ms" },
      servers: istio({ quit: [] }),
      command: ["app", "exit", "3"],
      sees: { code: 3, requests: [] },
    }),
    one("another admin port, and no ISTIO_QUIT_API: Envoy itself is told", {
      env: { ENVOY_ADMIN_API: "http://127.0.0.1:9901", ISTIO_QUIT_API: undefined },
      servers: [{ port: 9901, polls: [live], others: [quits] }],
      sees: { polls: ["9901 GET /server_info"], requests: ["9901 POST /quitquitquit"] },
      differs: [{ rivals: both, by: "envoy-told", sees: { requests: [] } }],
    }),
    one("ISTIO_QUIT_API is deduced, nobody listens there: pilot-agent gets SIGINT", {
      env: { ISTIO_QUIT_API: undefined, QUIT_REQUEST_TIMEOUT: "2s" },
      servers: istio({ quit: [] }),
      hasAgent: true,
      sees: { requests: [], agent: [2] },
      differs: [{ rivals: kvij, by: "fallback", sees: { agent: [] } }],
    }),
    one("ISTIO_FALLBACK_PKILL=true: where the quit is refused pilot-agent gets SIGINT", {
      env: { ISTIO_FALLBACK_PKILL: "true" },
      servers: istio({ quit: [status(404)] }),
      hasAgent: true,
      sees: { agent: [2] },
      differs: [{ rivals: kvij, by: "fallback", sees: { agent: [] } }],
    }),
    one("ISTIO_FALLBACK_PKILL=true: where the quit is taken pilot-agent gets no signal", {
      env: { ISTIO_FALLBACK_PKILL: "true" },
      hasAgent: true,
    }),
    one("ISTIO_FALLBACK_PKILL=false: where the quit is refused pilot-agent gets no signal", {
      env: { ISTIO_FALLBACK_PKILL: "false" },
      servers: istio({ quit: [status(404)] }),
      hasAgent: true,
    }),
    one("where ISTIO_QUIT_API is given and refused pilot-agent gets no signal", {
      servers: istio({ quit: [status(404)] }),
      hasAgent: true,
    }),
    one("another admin port, no ISTIO_QUIT_API, and Envoy refuses: pilot-agent gets SIGINT", {
      env: { ENVOY_ADMIN_API: "http://127.0.0.1:9901", ISTIO_QUIT_API: undefined },
      servers: [{ port: 9901, polls: [live], others: [status(404)] }],
      hasAgent: true,
      sees: { polls: ["9901 GET /server_info"], requests: ["9901 POST /quitquitquit"], agent: [2] },
      differs: [
        { rivals: kvij, by: "envoy-told", sees: { requests: [], agent: [] } },
        { rivals: redbox, by: "envoy-told", sees: { requests: [] } },
      ],
    }),
  ];
}

function neverKill(): readonly Case[] {
  return [0, 1].flatMap((code) => [
    one(`NEVER_KILL_ISTIO=true, exit code ${code}`, {
      env: { NEVER_KILL_ISTIO: "true" },
      command: ["app", "exit", `${code}`],
      sees: { code, requests: [] },
    }),
    one(`NEVER_KILL_ISTIO_ON_FAILURE=true, exit code ${code}`, {
      env: { NEVER_KILL_ISTIO_ON_FAILURE: "true" },
      command: ["app", "exit", `${code}`],
      sees: { code, requests: code === 0 ? [quit] : [] },
    }),
    one(`NEVER_KILL_ISTIO_ON_FAILURE=false, exit code ${code}`, {
      env: { NEVER_KILL_ISTIO_ON_FAILURE: "false" },
      command: ["app", "exit", `${code}`],
      sees: { code },
    }),
    one(`NEVER_KILL_ISTIO=true and NEVER_KILL_ISTIO_ON_FAILURE=true, exit code ${code}`, {
      env: { NEVER_KILL_ISTIO: "true", NEVER_KILL_ISTIO_ON_FAILURE: "true" },
      command: ["app", "exit", `${code}`],
      sees: { code, requests: [] },
    }),
  ]);
}

/** Returns the cases of NEVER_KILL_ISTIO_ON_FAILURE, for which a command that does not exit has failed too. */
function failing(): readonly Case[] {
  const env = { NEVER_KILL_ISTIO_ON_FAILURE: "true" };
  return [
    one("NEVER_KILL_ISTIO_ON_FAILURE=true, the command is ended by a signal", {
      env,
      command: ["app", "die", "9"],
      sees: { code: 137, requests: [] },
      differs: [{ rivals: both, by: "signal-death", sees: { code: 255 } }],
    }),
    one("NEVER_KILL_ISTIO_ON_FAILURE=true, the command is not there", {
      env,
      command: ["/none/none"],
      sees: { code: 127, started: "no", requests: [] },
      differs: [{ rivals: both, by: "not-started", sees: { code: 2 } }],
    }),
    one("NEVER_KILL_ISTIO_ON_FAILURE=true, SIGTERM while it waits", {
      env,
      servers: istio({ polls: [initializing] }),
      steps: [{ once: { polls: 2 }, act: { signal: 15 } }],
      sees: { code: 143, started: "no", requests: [] },
    }),
    one("NEVER_KILL_ISTIO_ON_FAILURE=true, QUIT_WITHOUT_ENVOY_TIMEOUT", {
      env: { ...env, QUIT_WITHOUT_ENVOY_TIMEOUT: "300ms" },
      servers: istio({ polls: [initializing] }),
      sees: { code: 69, started: "no", requests: [] },
      differs: [{ rivals: both, by: "wait-timeout", sees: { code: 1 } }],
    }),
  ];
}

function generics(): readonly Case[] {
  const env = { GENERIC_QUIT_ENDPOINTS: "http://127.0.0.1:8081/stop" };
  const pod = [...istio({}), generic(8081)];
  const told = "8081 POST /stop";
  const only = { ...env, GENERIC_QUIT_ONLY: "true" };
  const unknown = (sees: NonNullable<Case["differs"]>[number]["sees"]) =>
    [{ rivals: redbox, by: "newer-variables", sees }] as const;
  return [
    one("GENERIC_QUIT_ENDPOINTS: one, and Istio", { env, servers: pod, sees: { requests: [told, quit] } }),
    one("GENERIC_QUIT_ENDPOINTS: two, with spaces", {
      env: { GENERIC_QUIT_ENDPOINTS: " http://127.0.0.1:8081/stop , http://localhost:8082/quit?now=1 " },
      servers: [...pod, generic(8082)],
      sees: { requests: [told, "8082 POST /quit?now=1", quit] },
    }),
    one("GENERIC_QUIT_ENDPOINTS are told before Istio", {
      env: { GENERIC_QUIT_ENDPOINTS: "http://127.0.0.1:20001/stop" },
      servers: [...istio({}), generic(20001)],
      isInOrder: true,
      sees: { requests: ["20001 POST /stop", quit] },
    }),
    one("GENERIC_QUIT_ENDPOINTS without a path", {
      env: { GENERIC_QUIT_ENDPOINTS: "http://127.0.0.1:8081" },
      servers: pod,
      sees: { requests: ["8081 POST /", quit] },
    }),
    one("GENERIC_QUIT_ENDPOINTS that ends with a comma", {
      env: { GENERIC_QUIT_ENDPOINTS: "http://127.0.0.1:8081/stop," },
      servers: pod,
      sees: { requests: [told, quit] },
    }),
    one("an empty GENERIC_QUIT_ENDPOINTS is none", { env: { GENERIC_QUIT_ENDPOINTS: "" }, servers: pod }),
    one("GENERIC_QUIT_ENDPOINTS=nonsense is refused", {
      env: { GENERIC_QUIT_ENDPOINTS: "nonsense" },
      sees: refused,
      says: ["GENERIC_QUIT_ENDPOINTS"],
      differs: [{ rivals: both, by: "bad-value", sees: plain }],
    }),
    ...[404, 500].map((code) =>
      one(`GENERIC_QUIT_ENDPOINTS that answers ${code}: its answer does not matter`, {
        env: { ...env, QUIT_REQUEST_TIMEOUT: "1s" },
        servers: [...istio({}), generic(8081, [status(code)])],
        sees: { requests: [told, ...(code === 500 ? [`${told} again`] : []), quit] },
        ...(code === 500
          ? { differs: [{ rivals: both, by: "quit-again", sees: { requests: [told, quit] } }] as const }
          : {}),
      }),
    ),
    one("GENERIC_QUIT_ENDPOINTS where nobody listens", {
      env: { ...env, QUIT_REQUEST_TIMEOUT: "1s" },
      servers: istio({}),
    }),
    one("a generic endpoint that hangs takes no time from the others", {
      env: {
        GENERIC_QUIT_ENDPOINTS: "http://127.0.0.1:8081/stop,http://127.0.0.1:8082/stop",
        QUIT_REQUEST_TIMEOUT: "700ms",
      },
      servers: [...istio({}), generic(8081, [hangs]), generic(8082)],
      sees: { requests: [told, "8082 POST /stop", quit] },
      differs: [
        { rivals: kvij, by: "one-by-one", sees: { requests: [told, quit] } },
        { rivals: redbox, by: "quit-timeout", sees: { code: "still running", requests: [told] } },
      ],
    }),
    one("GENERIC_QUIT_ONLY=true: Istio is not quit", {
      env: only,
      servers: pod,
      sees: { requests: [told] },
      differs: unknown({ requests: [told, quit] }),
    }),
    one("GENERIC_QUIT_ONLY=true without endpoints quits nothing", {
      env: { GENERIC_QUIT_ONLY: "true" },
      sees: { requests: [] },
      differs: unknown({ requests: [quit] }),
    }),
    one("GENERIC_QUIT_ONLY=true without ENVOY_ADMIN_API tells the endpoints", {
      env: { ...only, ENVOY_ADMIN_API: undefined, ISTIO_QUIT_API: undefined },
      servers: pod,
      sees: { ...nothing, requests: [told] },
      differs: unknown({ requests: [] }),
    }),
    one("GENERIC_QUIT_ONLY=true wins over NEVER_KILL_ISTIO", {
      env: { ...only, NEVER_KILL_ISTIO: "true" },
      servers: pod,
      sees: { requests: [told] },
      differs: unknown({ requests: [] }),
    }),
    one("GENERIC_QUIT_ONLY=true wins over NEVER_KILL_ISTIO_ON_FAILURE", {
      env: { ...only, NEVER_KILL_ISTIO_ON_FAILURE: "true" },
      servers: pod,
      command: ["app", "exit", "1"],
      sees: { code: 1, requests: [told] },
      differs: unknown({ requests: [] }),
    }),
    one("NEVER_KILL_ISTIO=true: the endpoints are not told either", {
      env: { ...env, NEVER_KILL_ISTIO: "true" },
      servers: pod,
      sees: { requests: [] },
    }),
    one("NEVER_KILL_ISTIO_ON_FAILURE=true, exit code 1: the endpoints are not told either", {
      env: { ...env, NEVER_KILL_ISTIO_ON_FAILURE: "true" },
      servers: pod,
      command: ["app", "exit", "1"],
      sees: { code: 1, requests: [] },
    }),
    one("GENERIC_QUIT_ENDPOINTS without ENVOY_ADMIN_API are not told", {
      env: { ...env, ENVOY_ADMIN_API: undefined, ISTIO_QUIT_API: undefined },
      servers: pod,
      sees: nothing,
    }),
    ...["0", "0s"].map((value) =>
      one(`QUIT_REQUEST_TIMEOUT=${value} is none given`, {
        env: { QUIT_REQUEST_TIMEOUT: value },
        differs: [{ rivals: kvij, by: "no-time-to-quit", sees: { requests: [] } }],
      }),
    ),
    one("QUIT_REQUEST_TIMEOUT bounds a quit that hangs", {
      env: { QUIT_REQUEST_TIMEOUT: "500ms" },
      servers: istio({ quit: [hangs] }),
      command: ["app", "exit", "3"],
      sees: { code: 3 },
      atMostMs: 4500,
      differs: [{ rivals: redbox, by: "quit-timeout", sees: { code: "still running" } }],
    }),
    one("SIGTERM while the quit hangs changes nothing", {
      env: { QUIT_REQUEST_TIMEOUT: "700ms" },
      servers: istio({ quit: [hangs] }),
      steps: [{ once: { requests: 1 }, act: { signal: 15 } }],
      command: ["app", "exit", "3"],
      sees: { code: 3 },
      differs: [{ rivals: redbox, by: "quit-timeout", sees: { code: "still running" } }],
    }),
  ];
}
