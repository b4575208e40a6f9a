import { describe, expect, test } from "bun:test";
import type { DumpedListener } from "../../../../../src/pod/envoy/core/scope.ts";
import { type AdminAnswers, type AskedEnvoy, envoyStatus } from "../../../../../src/pod/envoy/core/status.ts";
import { type HttpTarget, parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import { inboundDrain } from "../../../../../src/shared/sidecars/core/inbound.ts";
import { inboundOf } from "../../../../../src/shared/sidecars/core/registry.ts";

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
http.admin.downstream_rq_active: 1
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
const dumped: readonly DumpedListener[] = [
  { name: "virtualInbound", statName: "0.0.0.0_15006", port: 15006, direction: "INBOUND", isLocal: false },
  { name: "virtualOutbound", statName: "0.0.0.0_15001", port: 15001, direction: "OUTBOUND", isLocal: false },
];
const answers: AdminAnswers = {
  serverInfo: { text: JSON.stringify(info) },
  stats: { text: stats },
  bound: { text: JSON.stringify(bound) },
  dumped,
  notDumped: undefined,
  clusters: { text: "" },
};
const asked: AskedEnvoy = { admin, drainPath: inboundDrain, inbound: inboundOf("istio"), sockets: undefined };

test("an Envoy's answers are its status", () => {
  expect(envoyStatus(asked, answers)).toEqual({
    admin: "http://localhost:15000",
    problems: [],
    state: "LIVE",
    release: "1.40.0",
    uptimeMs: 3_725_000,
    epoch: 2,
    drainStrategy: "immediate",
    drainTimeMs: 45_000,
    drained: 5,
    inFlight: { requests: 2, connections: 0, hasRequests: true, countedBy: "listeners" },
    listeners: [
      { name: "virtualInbound", address: "0.0.0.0:15006", direction: "inbound", connections: 3 },
      { name: "virtualOutbound", address: "0.0.0.0:15001", direction: "outbound", connections: 5 },
      { name: "new", address: "[::]:80", direction: null, connections: 0 },
      { name: "connect_originate", address: null, direction: null, connections: 0 },
    ],
  });
});

test("outbound requests are in flight, too, where outbound is drained, too", () => {
  const undirected = { ...answers, dumped: [] };
  const seen = envoyStatus(
    { ...asked, drainPath: "/drain_listeners?graceful&skip_exit", inbound: undefined },
    undirected,
  );
  expect(seen.inFlight).toEqual({ requests: 2, connections: 5, hasRequests: true, countedBy: "listeners" });
});

describe("an Envoy that publishes none of the statistics that are asked for", () => {
  const thinnedOut: AdminAnswers = { ...answers, stats: { text: "" } };
  const clusters = "inbound|8080||::observability_name::x\ninbound|8080||::10.0.0.1:8080::rq_active::2\n";

  test("has no problem; what is under way to its inbound clusters is in flight", () => {
    const seen = envoyStatus(asked, { ...thinnedOut, clusters: { text: clusters } });
    expect(seen).toMatchObject({ problems: [], state: "LIVE", drained: null });
    expect(seen.inFlight).toEqual({ requests: 2, connections: 0, hasRequests: true, countedBy: "clusters" });
    expect(seen.listeners.map(({ connections }) => connections)).toEqual([null, null, null, null]);
  });

  test("and no inbound clusters: what is on its inbound ports is in flight", () => {
    const tcp = `   0: 00000000:3A9E 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 1 1
   1: 0700000A:3A9E 0900000A:9C41 01 00000000:00000000 00:00000000 00000000  1337        0 2 1
`;
    const seen = envoyStatus({ ...asked, sockets: { tcp, tcp6: undefined, unix: undefined } }, thinnedOut);
    expect(seen.inFlight).toEqual({ requests: 0, connections: 1, hasRequests: false, countedBy: "sockets" });
    expect(envoyStatus(asked, thinnedOut).inFlight).toBeNull();
  });
});

test("a listener is known by stat_prefix where it has one, and by its address where no configuration is shown", () => {
  const seen = envoyStatus(asked, {
    ...answers,
    stats: { text: `${stats}listener.mine.downstream_cx_active: 7\n` },
    dumped: [{ name: "new", statName: "mine", port: undefined, direction: undefined, isLocal: false }],
    notDumped: "HTTP 403",
  });
  expect(seen.listeners.map(({ connections }) => connections)).toEqual([3, 5, 7, 0]);
  expect(seen.problems).toEqual(["/config_dump: HTTP 403"]);
});

describe("what is not answered is null, and said:", () => {
  const nothing = {
    ...{ state: null, release: null, uptimeMs: null, epoch: null, drainStrategy: null, drainTimeMs: null },
    ...{ drained: null, inFlight: null, listeners: [] },
  };

  test("nothing, once", () => {
    const problem = "connection refused";
    const refused = { serverInfo: { problem }, stats: { problem }, bound: { problem }, clusters: { problem } };
    expect(envoyStatus(asked, { ...refused, dumped: [], notDumped: problem })).toEqual({
      admin: "http://localhost:15000",
      problems: [problem],
      ...nothing,
    });
  });

  test("different things, each", () => {
    const why = "not what an Envoy answers";
    const broken: AdminAnswers = {
      serverInfo: { text: "{}" },
      stats: { text: "Forbidden" },
      bound: { problem: "HTTP 500" },
      clusters: { text: "" },
      dumped: [],
      notDumped: why,
    };
    const problems = [`/server_info: ${why}`, `/stats: ${why}`, "/listeners: HTTP 500", `/config_dump: ${why}`];
    expect(envoyStatus(asked, broken)).toEqual({ admin: "http://localhost:15000", problems, ...nothing });
  });

  test("connections without statistics", () => {
    const { listeners, inFlight } = envoyStatus(asked, { ...answers, stats: { problem: "HTTP 403" } });
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
  expect(envoyStatus(asked, { ...answers, serverInfo: { text: JSON.stringify(less) } })).toMatchObject(seen);
});
