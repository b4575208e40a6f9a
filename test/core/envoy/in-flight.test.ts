import { describe, expect, test } from "bun:test";
import { countInbound } from "../../../src/core/envoy/clusters.ts";
import {
  type CountedBy,
  type CountScope,
  inFlightOf,
  type Readings,
  readStats,
} from "../../../src/core/envoy/in-flight.ts";
import type { Inbound } from "../../../src/core/envoy/inbound.ts";

const inbound: Inbound = { clusters: "inbound", ports: [15006], isAllOfIt: true };
const side: CountScope = { inbound, leftOut: new Set(), known: new Set(), ports: [15006] };

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
  [
    "requests, where they are published",
    { stats: admin + held + request, clusters, sockets },
    ["listeners", 1, 0, true],
  ],
  ["nothing, where they are published", { stats: admin, clusters, sockets }, ["listeners", 0, 0, true]],
  ["to inbound clusters, where no statistics are", { stats: "", clusters, sockets }, ["clusters", 3, 0, true]],
  [
    "nothing to inbound clusters without hosts",
    { stats: "", clusters: idleClusters, sockets },
    ["clusters", 0, 0, true],
  ],
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
  expect(inFlightOf(readings, side)).toEqual(counted as ReturnType<typeof inFlightOf>);
});

describe("a listener whose direction could not be learned", () => {
  const out = "listener.0.0.0.0_15001.downstream_cx_active: 5\n";
  const count = (stats: string, changed: Partial<CountScope>) =>
    inFlightOf({ stats: readStats(admin + stats) }, { ...side, ...changed })?.connections;
  const comesIn = "listener.0.0.0.0_15006.downstream_cx_active: 1\n";

  test("is outbound, where all that comes in comes in elsewhere", () => {
    expect(count(out + comesIn, {})).toBe(1);
  });

  test.each<[string, string, Partial<CountScope>, number]>([
    ["where it is known", out + comesIn, { known: new Set(["0.0.0.0_15001"]) }, 6],
    ["where nothing has come in there: then it is another configuration", out, {}, 5],
    ["where more may come in elsewhere", out + comesIn, { inbound: { ...inbound, isAllOfIt: false } }, 6],
    ["where nothing is known of the sidecar", out + comesIn, { inbound: undefined }, 6],
  ])("counts %s", (_, stats, changed, expected) => {
    expect(count(stats, changed)).toBe(expected);
  });
});
