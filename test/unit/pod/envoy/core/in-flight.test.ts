import { expect, test } from "bun:test";
import { countInbound } from "../../../../../src/pod/envoy/core/clusters.ts";
import {
  type CountedBy,
  countAccepted,
  inFlightOf,
  type Readings,
} from "../../../../../src/pod/envoy/core/in-flight.ts";
import { readStats } from "../../../../../src/pod/envoy/core/stats.ts";
import type { Inbound } from "../../../../../src/shared/sidecars/core/inbound.ts";

const inbound: Inbound = { clusters: "inbound", ports: [15006] };

/** Envoy 1.40's own request and connection, as it shows them by default. */
const admin =
  "http.admin.downstream_cx_active: 1\nhttp.admin.downstream_rq_active: 1\nlistener.admin.downstream_cx_active: 1\n";
/** The same with Istio's EXIT_ON_ZERO_ACTIVE_CONNECTIONS: nothing but connections. */
const connectionsAlone = "http.admin.downstream_cx_active: 1\nlistener.admin.downstream_cx_active: 1\n";
const requestsAlone = "http.admin.downstream_rq_active: 1\n";
const held = "http.in.downstream_cx_active: 2\nlistener.0.0.0.0_15006.downstream_cx_active: 2\n";
const request = "http.in.downstream_rq_active: 1\n";
const clusters = "inbound::observability_name::inbound\ninbound::10.0.0.1:80::rq_active::3\n";
const idleClusters = "inbound::observability_name::inbound\n";
const sockets = {
  tcp: `   0: 00000000:3A9E 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 1 1
   1: 0700000A:3A9E 0900000A:9C41 01 00000000:00000000 00:00000000 00000000  1337        0 2 1
`,
  tcp6: undefined,
};

interface Answers extends Pick<Readings, "sockets"> {
  readonly stats?: string;
  readonly clusters?: string;
}

test.each<[string, Answers, [CountedBy, number, number, boolean] | undefined]>([
  ["requests, where they are published", { stats: admin + held + request, sockets }, ["listeners", 1, 0, true]],
  ["nothing, where they are published", { stats: admin, sockets }, ["listeners", 0, 0, true]],
  ["to inbound clusters, where no statistics are", { stats: "", clusters, sockets }, ["clusters", 3, 0, true]],
  [
    "nothing to inbound clusters without hosts",
    { stats: "", clusters: idleClusters, sockets },
    ["clusters", 0, 0, true],
  ],
  ["the same where all statistics are", { stats: admin + held + request, clusters }, ["clusters", 3, 0, true]],
  ["the same where connections alone are", { stats: connectionsAlone + held, clusters }, ["clusters", 3, 0, true]],
  ["the same where requests alone are", { stats: requestsAlone + request, clusters }, ["clusters", 3, 0, true]],
  ["the same where statistics are not allowed", { clusters, sockets }, ["clusters", 3, 0, true]],
  [
    "connections, where clusters are not known",
    { stats: connectionsAlone + held, sockets },
    ["connections", 0, 2, false],
  ],
  ["no connections, which need no explanation", { stats: connectionsAlone, sockets }, ["connections", 0, 0, true]],
  [
    "sockets, where nothing else is",
    { stats: "", clusters: "app::observability_name::app\n", sockets },
    ["sockets", 0, 1, false],
  ],
  ["sockets, where nothing answers", { sockets }, ["sockets", 0, 1, false]],
  [
    "sockets, where something else answers",
    { stats: "Forbidden", clusters: "Forbidden", sockets },
    ["sockets", 0, 1, false],
  ],
  ["nothing that is known, where nobody listens there", { sockets: { tcp: "", tcp6: "" } }, undefined],
  ["nothing that is known, where nothing tells", { stats: "Forbidden" }, undefined],
])("in flight is %s", (_, { stats, clusters, sockets }, expected) => {
  const [countedBy, requests, connections, hasRequests] = expected ?? [];
  const counted = expected === undefined ? undefined : { countedBy, requests, connections, hasRequests };
  const readings: Readings = {
    stats: stats === undefined ? undefined : readStats(stats),
    underWay: clusters === undefined ? undefined : countInbound(clusters, inbound),
    sockets,
  };
  expect(inFlightOf(readings, { leftOut: new Set(), ports: inbound.ports, otherPorts: [] })).toEqual(
    counted as ReturnType<typeof inFlightOf>,
  );
});

test.each([
  ["the inbound ports, where one listens", [15006], [9], 1],
  ["the other ports, where none listens", [9], [15006], 1],
  ["neither, where none listens", [9], [10], undefined],
])("sockets are counted on %s", (_, ports, otherPorts, connections) => {
  const counted = inFlightOf({ sockets }, { leftOut: new Set(), ports, otherPorts });
  expect(counted?.connections).toBe(connections as number);
});

const [ESTABLISHED, TIME_WAIT, LISTEN] = ["01", "06", "0A"];

/** A line of /proc/net/tcp, as Linux 6.12 writes it, of `address:port` and its other end. */
function row(local: string, remote: string, state: string): string {
  return `   0: ${hex(local)} ${hex(remote)} ${state} 00000000:00000000 00:00000000 00000000  1337        0 12345 1 0000000000000000 20 4 30 10 -1\n`;
}

function hex(end: string): string {
  const [address = "", port] = end.split(":");
  const word = address
    .split(".")
    .toReversed()
    .map((byte) => Number(byte).toString(16).padStart(2, "0"));
  return `${word.join("")}:${Number(port).toString(16).padStart(4, "0")}`.toUpperCase();
}

const proxy = row("0.0.0.0:15006", "0.0.0.0:0", LISTEN);
const app = row("0.0.0.0:8080", "0.0.0.0:0", LISTEN);
const client = row("10.0.0.7:15006", "10.0.0.9:40001", ESTABLISHED);
/** The proxy's own connection to the app: both ends are in the pod. */
const toApp =
  row("127.0.0.6:33000", "10.0.0.7:8080", ESTABLISHED) + row("10.0.0.7:8080", "127.0.0.6:33000", ESTABLISHED);
const direct = row("10.0.0.7:8080", "10.0.0.9:40002", ESTABLISHED);
const outgoing = row("10.0.0.7:50000", "10.0.0.8:8080", ESTABLISHED);

test.each<[string, string, number | undefined]>([
  ["counts what it has accepted", proxy + client + client.replace(/9C41/, "9C42"), 2],
  ["counts nothing where there is nothing", proxy, 0],
  ["leaves out its own connections to the app", proxy + app + client + toApp, 1],
  ["leaves out connections to the app that do not come through it", proxy + app + direct, 0],
  ["leaves out what goes out of the pod", proxy + client + outgoing, 1],
  ["leaves out what is over", proxy + row("10.0.0.7:15006", "10.0.0.9:40001", TIME_WAIT), 0],
  ["is not known where nobody listens there", app + client, undefined],
])("the count of connections to a proxy's inbound port: %s", (_, tcp, expected) => {
  expect(countAccepted({ tcp, tcp6: undefined }, [15006])).toBe(expected as number);
});

test("connections to each of a proxy's inbound ports are counted, on IPv6 too", () => {
  const zero = "0".repeat(32);
  const tcp6 = `   0: ${zero}:3A9E ${zero}:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 1 1
   1: 0000000000000000FFFF00000700000A:3A9E 0000000000000000FFFF00000900000A:9C41 01 00000000:00000000 00:00000000 00000000  1337        0 2 1
`;
  expect(countAccepted({ tcp: undefined, tcp6 }, [15006])).toBe(1);
  const tcp = proxy.replace("3A9E", "3AA0") + client.replace("3A9E", "3AA0");
  expect(countAccepted({ tcp, tcp6 }, [15006, 15008])).toBe(2);
});
