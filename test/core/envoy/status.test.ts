import { describe, expect, test } from "bun:test";
import { type HttpTarget, parseHttpTarget } from "../../../src/core/address.ts";
import { type AdminAnswer, adminPaths, envoyStatus } from "../../../src/core/envoy/status.ts";
import { inboundDrain } from "../../../src/core/sidecars/kind.ts";

const admin = parseHttpTarget("http://localhost:15000") as HttpTarget;

const info = {
  version: "9e55/1.40.0/Clean/RELEASE/BoringSSL",
  state: "LIVE",
  uptime_current_epoch: "3725s",
  uptime_all_epochs: "9999s",
  command_line_options: { restart_epoch: 2, drain_time: "45s", drain_strategy: "Immediate", concurrency: 2 },
};
const address = (host: string, port: number) => ({ socket_address: { address: host, port_value: port } });
const stats = `http.admin.downstream_cx_active: 1
http.inbound.downstream_cx_active: 3
http.inbound.downstream_cx_drain_close: 4
http.outbound.downstream_cx_drain_close: 1
http.inbound.downstream_rq_active: 2
listener.0.0.0.0_15006.downstream_cx_active: 3
listener.0.0.0.0_15006.http.inbound.downstream_rq_completed: 9
listener.0.0.0.0_15001.downstream_cx_active: 5
listener.admin.downstream_cx_active: 1
`;
const bound = {
  listener_statuses: [
    { name: "virtualInbound", local_address: address("0.0.0.0", 15006) },
    { name: "virtualOutbound", local_address: address("0.0.0.0", 15001) },
    { name: "new", local_address: address("::", 80) },
    { name: "connect_originate", local_address: { envoy_internal_address: { server_listener_name: "x" } } },
  ],
};
const dumped = {
  configs: [
    {
      active_state: {
        listener: { name: "virtualInbound", address: address("0.0.0.0", 15006), traffic_direction: "INBOUND" },
      },
    },
    {
      active_state: {
        listener: { name: "virtualOutbound", address: address("0.0.0.0", 15001), traffic_direction: "OUTBOUND" },
      },
    },
  ],
};
const answers: AdminAnswer[] = [info, stats, bound, {}, dumped, ""].map((answer) => ({
  text: typeof answer === "string" ? answer : JSON.stringify(answer),
}));

function answersBut(changed: Readonly<Record<number, AdminAnswer>>): readonly AdminAnswer[] {
  return answers.map((answer, at) => changed[at] ?? answer);
}

test("there is an answer for each path", () => {
  expect(adminPaths()).toHaveLength(answers.length);
});

test("an Envoy's answers are its status", () => {
  expect(envoyStatus(admin, answers, inboundDrain)).toEqual({
    admin: "http://localhost:15000",
    problems: [],
    state: "LIVE",
    release: "1.40.0",
    uptimeMs: 3_725_000,
    epoch: 2,
    drainStrategy: "immediate",
    drainTimeMs: 45_000,
    drained: 5,
    inFlight: { requests: 2, connections: 0, hasRequests: true },
    listeners: [
      { name: "virtualInbound", address: "0.0.0.0:15006", direction: "inbound", connections: 3 },
      { name: "virtualOutbound", address: "0.0.0.0:15001", direction: "outbound", connections: 5 },
      { name: "new", address: "[::]:80", direction: null, connections: 0 },
      { name: "connect_originate", address: null, direction: null, connections: 0 },
    ],
  });
});

test("where outbound is drained too, it is in flight too", () => {
  const undirected = answersBut({ 4: { text: "{}" } });
  expect(envoyStatus(admin, undirected, "/drain_listeners?graceful&skip_exit").inFlight).toEqual({
    requests: 2,
    connections: 5,
    hasRequests: true,
  });
});

test("where statistics show no requests, what is under way to Istio's inbound clusters is in flight", () => {
  const hidden = "listener.0.0.0.0_15006.downstream_cx_active: 3\nhttp.inbound_0.0.0.0_8080;.downstream_cx_active: 3\n";
  const clusters = "inbound|8080||::10.0.0.1:8080::cx_active::3\ninbound|8080||::10.0.0.1:8080::rq_active::2\n";
  const seen = envoyStatus(admin, answersBut({ 1: { text: hidden }, 5: { text: clusters } }), inboundDrain);
  expect(seen.inFlight).toEqual({ requests: 2, connections: 0, hasRequests: true });
  const unseen = envoyStatus(admin, answersBut({ 1: { text: hidden } }), inboundDrain);
  expect(unseen.inFlight).toEqual({ requests: 0, connections: 3, hasRequests: false });
});

test("a listener is known by stat_prefix where it has one, and by its address where no configuration is shown", () => {
  const prefixed = { configs: [{ listener: { name: "new", stat_prefix: "mine" } }] };
  const changed = answersBut({
    1: { text: `${stats}listener.mine.downstream_cx_active: 7\n` },
    3: { text: JSON.stringify(prefixed) },
    4: { problem: "HTTP 403" },
  });
  const { listeners, problems } = envoyStatus(admin, changed, inboundDrain);
  expect(listeners.map(({ connections }) => connections)).toEqual([3, 5, 7, 0]);
  expect(problems).toEqual(["/config_dump: HTTP 403"]);
});

describe("what is not answered is null, and said:", () => {
  const nothing = {
    ...{ state: null, release: null, uptimeMs: null, epoch: null, drainStrategy: null, drainTimeMs: null },
    ...{ drained: null, inFlight: null, listeners: [] },
  };

  test("nothing, once", () => {
    const refused = answers.map(() => ({ problem: "connection refused" }));
    const problems = ["connection refused"];
    expect(envoyStatus(admin, refused, inboundDrain)).toEqual({
      admin: "http://localhost:15000",
      problems,
      ...nothing,
    });
  });

  test("different things, each", () => {
    const broken = [
      { text: "{}" },
      { text: "Forbidden" },
      { problem: "HTTP 500" },
      { text: "[" },
      { text: "null" },
      { text: "" },
    ];
    const why = "not what an Envoy answers";
    const problems = [`/server_info: ${why}`, `/stats: ${why}`, "/listeners: HTTP 500", `/config_dump: ${why}`];
    expect(envoyStatus(admin, broken, inboundDrain)).toEqual({ admin: "http://localhost:15000", problems, ...nothing });
  });

  test("connections without statistics", () => {
    const { listeners, inFlight } = envoyStatus(admin, answersBut({ 1: { problem: "HTTP 403" } }), inboundDrain);
    expect([inFlight, ...listeners.map(({ connections }) => connections)]).toEqual([null, null, null, null, null]);
  });
});

test.each([
  [{ state: "INITIALIZING" }, { state: "INITIALIZING", release: null, epoch: null, uptimeMs: null }],
  [
    { state: "LIVE", version: "custom" },
    { state: "LIVE", release: "custom" },
  ],
])("an Envoy that says less: %j", (less, seen) => {
  expect(envoyStatus(admin, answersBut({ 0: { text: JSON.stringify(less) } }), inboundDrain)).toMatchObject(seen);
});
