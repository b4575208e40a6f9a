import { hangs, initializing, live, notReady, state, status } from "../answers.ts";
import type { Case } from "../case.ts";
import { istio, scuttle } from "../wrappers.ts";
import { nothing, one, quit, refused } from "./scuttle-case.ts";

const both = scuttle.rivals;
const kvij = ["scuttle"] as const;
const never = istio({ polls: [initializing] });

/** The cases of where scuttle's Envoy is, what it answers, and how long it is waited for. */
export const scuttleWaiting: readonly Case[] = [...admin(), ...states(), ...waiting()];

function admin(): readonly Case[] {
  return [
    one("without ENVOY_ADMIN_API nothing is waited for, and nothing is quit", {
      env: { ENVOY_ADMIN_API: undefined },
      servers: never,
      sees: nothing,
    }),
    one("an empty ENVOY_ADMIN_API is none", { env: { ENVOY_ADMIN_API: "" }, servers: never, sees: nothing }),
    one("without any variable it runs the command", {
      env: { ENVOY_ADMIN_API: undefined, ISTIO_QUIT_API: undefined },
      servers: never,
      command: ["app", "exit", "7"],
      sees: { ...nothing, code: 7 },
    }),
    one("ENVOY_ADMIN_API says localhost", {
      env: { ENVOY_ADMIN_API: "http://localhost:15000" },
    }),
    ...["localhost:15000", "15000", "nonsense", " http://127.0.0.1:15000"].map((value) =>
      one(`ENVOY_ADMIN_API=${value} is refused`, {
        env: { ENVOY_ADMIN_API: value },
        sees: refused,
        says: ["ENVOY_ADMIN_API"],
        differs: [
          { rivals: both, by: "bad-value", sees: { code: "still running", started: "no", polls: [], requests: [] } },
        ],
      }),
    ),
    one("ENVOY_ADMIN_API in capitals", {
      env: { ENVOY_ADMIN_API: "HTTP://LOCALHOST:15000" },
      differs: [{ rivals: both, by: "loopback", sees: { requests: [] } }],
    }),
    one("ENVOY_ADMIN_API has a path", {
      env: { ENVOY_ADMIN_API: "http://127.0.0.1:15000/envoy" },
      sees: { polls: ["15000 GET /envoy/server_info"] },
    }),
    one("ENVOY_ADMIN_API ends with a slash", {
      env: { ENVOY_ADMIN_API: "http://127.0.0.1:15000/" },
      differs: [
        {
          rivals: both,
          by: "slash",
          sees: {
            code: "still running",
            started: "no",
            polls: [],
            requests: ["15000 GET //server_info", "15000 GET //server_info again"],
          },
        },
      ],
    }),
    one("ENVOY_ADMIN_API is not of this pod: it is waited for, and not quit", {
      env: { ENVOY_ADMIN_API: "http://0.0.0.0:15000" },
      sees: { requests: [] },
    }),
    one("ENVOY_ADMIN_API is IPv6's loopback", {
      env: { ENVOY_ADMIN_API: "http://[::1]:15000", ISTIO_QUIT_API: "http://[::1]:15020" },
      servers: istio({}).map((server) => ({ ...server, host: "::1" })),
      differs: [{ rivals: both, by: "loopback", sees: { requests: [] } }],
    }),
  ];
}

/** Returns the cases of what /server_info answers, and how. */
function states(): readonly Case[] {
  const before = (name: string, ...answers: readonly ReturnType<typeof status>[]) =>
    one(name, { servers: istio({ polls: [...answers, live] }) });
  return [
    before("PRE_INITIALIZING is not ready", state("PRE_INITIALIZING")),
    before("INITIALIZING is not ready", state("INITIALIZING")),
    before("DRAINING is not ready", state("DRAINING")),
    before("live in small letters is not ready", state("live")),
    before("an answer without a state is not ready", status(200, "{}")),
    before("an answer that is no object is not ready", status(200, "[]")),
    before("an answer that is not JSON is not ready", status(200, "LIVE\n")),
    before("an empty answer is not ready", status(200)),
    before("half an object is not ready", status(200, '{"state":"LIVE"')),
    before("a state that is a number is not ready", status(200, '{"state":1}')),
    one("the answer comes in chunks", {
      servers: istio({
        polls: [
          {
            isReady: true,
            give: (socket) => {
              socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n");
              socket.write('{"sta\r\nA\r\nte":"LIVE"\r\n1\r\n}\r\n0\r\n\r\n');
            },
          },
        ],
      }),
    }),
    one("LIVE with status 503 is not ready", {
      servers: istio({ polls: [{ ...state("LIVE", 503) }, live] }),
      differs: [{ rivals: both, by: "status", sees: { started: "unready" } }],
    }),
    one("a redirect is not followed", {
      servers: [
        ...istio({ polls: [status(302, "", ["location: http://127.0.0.1:15100/other"]), live] }),
        { port: 15100, others: [state("LIVE")], ends: [] },
      ],
      differs: [{ rivals: kvij, by: "redirect", sees: { started: "unready", requests: [quit, "15100 GET /other"] } }],
    }),
  ];
}

function waiting(): readonly Case[] {
  const started = { started: "unready", polls: [scuttle.poll], requests: [quit] } as const;
  const failed = { code: 69, started: "no" } as const;
  const quitWithout = [{ rivals: both, by: "wait-timeout", sees: { code: 1, requests: [] } }] as const;
  return [
    one("START_WITHOUT_ENVOY=true: nothing is polled, but quit", {
      env: { START_WITHOUT_ENVOY: "true" },
      servers: never,
      sees: { ...started, polls: [] },
    }),
    one("START_WITHOUT_ENVOY=true wins over both timeouts", {
      env: { START_WITHOUT_ENVOY: "true", WAIT_FOR_ENVOY_TIMEOUT: "1h", QUIT_WITHOUT_ENVOY_TIMEOUT: "1h" },
      servers: never,
      sees: { ...started, polls: [] },
    }),
    one("WAIT_FOR_ENVOY_TIMEOUT: the command is started then", {
      env: { WAIT_FOR_ENVOY_TIMEOUT: "400ms" },
      servers: never,
      atLeastMs: 400,
      sees: started,
    }),
    one("WAIT_FOR_ENVOY_TIMEOUT beside a proxy that answers nothing", {
      env: { WAIT_FOR_ENVOY_TIMEOUT: "400ms" },
      servers: istio({ polls: [hangs] }),
      atLeastMs: 400,
      sees: started,
    }),
    one("WAIT_FOR_ENVOY_TIMEOUT beside a proxy that is not there", {
      env: { WAIT_FOR_ENVOY_TIMEOUT: "400ms", QUIT_REQUEST_TIMEOUT: "300ms" },
      servers: [],
      atLeastMs: 400,
      sees: { ...started, polls: [], requests: [] },
    }),
    one("WAIT_FOR_ENVOY_TIMEOUT that is long: ready is noticed before", { env: { WAIT_FOR_ENVOY_TIMEOUT: "1h" } }),
    one("QUIT_WITHOUT_ENVOY_TIMEOUT: the command is not started", {
      env: { QUIT_WITHOUT_ENVOY_TIMEOUT: "400ms" },
      servers: never,
      atLeastMs: 400,
      sees: failed,
      differs: quitWithout,
    }),
    one("QUIT_WITHOUT_ENVOY_TIMEOUT wins over WAIT_FOR_ENVOY_TIMEOUT", {
      env: { QUIT_WITHOUT_ENVOY_TIMEOUT: "400ms", WAIT_FOR_ENVOY_TIMEOUT: "100ms" },
      servers: never,
      atLeastMs: 400,
      sees: failed,
      differs: quitWithout,
    }),
    one("QUIT_WITHOUT_ENVOY_TIMEOUT with NEVER_KILL_ISTIO", {
      env: { QUIT_WITHOUT_ENVOY_TIMEOUT: "400ms", NEVER_KILL_ISTIO: "true" },
      servers: never,
      atLeastMs: 400,
      sees: { ...failed, requests: [] },
      differs: [{ rivals: both, by: "wait-timeout", sees: { code: 1 } }],
    }),
    ...["0", "0s"].flatMap((value) =>
      ["WAIT_FOR_ENVOY_TIMEOUT", "QUIT_WITHOUT_ENVOY_TIMEOUT"].map((name) =>
        one(`${name}=${value} is none: it waits on`, {
          env: { [name]: value },
          servers: istio({ polls: [initializing, initializing, initializing, live] }),
        }),
      ),
    ),
    one("WAIT_FOR_ENVOY_TIMEOUT=1: a number alone is seconds", {
      env: { WAIT_FOR_ENVOY_TIMEOUT: "1" },
      servers: never,
      atLeastMs: 1000,
      sees: started,
      differs: [{ rivals: both, by: "bare-seconds", sees: { code: "still running", started: "no", requests: [] } }],
    }),
    one("QUIT_WITHOUT_ENVOY_TIMEOUT=1: a number alone is seconds", {
      env: { QUIT_WITHOUT_ENVOY_TIMEOUT: "1" },
      servers: never,
      atLeastMs: 1000,
      sees: failed,
      differs: [{ rivals: both, by: "bare-seconds", sees: { code: "still running", requests: [] } }],
    }),
    one("without a timeout it waits until it is told to stop", {
      servers: never,
      steps: [{ once: { polls: 4 }, act: { signal: 15 } }],
      sees: { code: 143, started: "no" },
      differs: [{ rivals: both, by: "stop-while-waiting", sees: { requests: [] } }],
    }),
    one("the readiness port of Istio is not what it asks", {
      servers: [...istio({}), { port: 15021, polls: [notReady], ends: [] }],
    }),
  ];
}
