import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countInFlight, type ListenerCount, needsAll } from "../../../../../src/pod/envoy/core/counts.ts";
import { parseStats } from "../../../../../src/pod/envoy/core/stats.ts";
import { admin } from "./stats-texts.ts";

/** What is in flight by the statistics of such an Envoy, besides its admin interface. */
function count(text: string, ...outbound: readonly string[]) {
  return countInFlight(parseStats(`${admin}${text}`), new Set(outbound));
}

function inFlight(requests: number, connections: number, hasRequests = true) {
  return { requests, connections, hasRequests };
}

describe("countInFlight", () => {
  test("an idle Envoy has nothing in flight: the asking connection is its own", () => {
    expect(count("")).toEqual(inFlight(0, 0));
  });

  test("requests on HTTP listeners and connections on the others, idle connections and rows of workers left out", () => {
    // Envoy 1.40, as it said it: two idle connections, a request and a WebSocket in flight, a TCP connection
    const text = `http.in.downstream_cx_active: 3
http.in.downstream_rq_active: 2
http.out.downstream_cx_active: 1
http.out.downstream_rq_active: 0
listener.127.0.0.1_8080.downstream_cx_active: 3
listener.127.0.0.1_8080.http.in.downstream_rq_completed: 2
listener.127.0.0.1_8080.worker_0.downstream_cx_active: 3
listener.127.0.0.1_8081.downstream_cx_active: 1
listener.127.0.0.1_8081.http.out.downstream_rq_completed: 1
listener.127.0.0.1_8081.worker_0.downstream_cx_active: 0
listener.127.0.0.1_8081.worker_1.downstream_cx_active: 1
listener.127.0.0.1_8082.downstream_cx_active: 1
listener.127.0.0.1_8082.worker_0.downstream_cx_active: 1
`;
    expect(count(text)).toEqual(inFlight(2, 1));
  });

  test.each<[string, string, ListenerCount]>([
    ["an HTTP/2 connection with many streams", rows("in", 1, 40, "0.0.0.0_8080", 1), inFlight(40, 0)],
    [
      "the rest of an answer, which a client has not taken",
      `${rows("in", 3, 0, "0.0.0.0_8080", 3)}${unsent("in", 9)}`,
      inFlight(0, 1),
    ],
    ["such a rest, taken by now", `${rows("in", 3, 0, "0.0.0.0_8080", 3)}${unsent("in", 0)}`, inFlight(0, 0)],
    ["the rest of an answer of the admin interface", unsent("admin", 9), inFlight(0, 0)],
    ["an IPv6 listener", `listener.[__]_8080.downstream_cx_active: 2\n`, inFlight(0, 2)],
    ["a listener on a unix socket", `listener./run/app.sock.downstream_cx_active: 2\n`, inFlight(0, 2)],
    [
      "two listeners that share a stat_prefix",
      rows("in", 3, 1, "0.0.0.0_8080", 2) + rows("in", 3, 1, "0.0.0.0_8443", 1),
      inFlight(1, 0),
    ],
    [
      "a listener with two connection managers",
      rows("one", 1, 1, "0.0.0.0_8080", 2) + rows("two", 1, 0, "0.0.0.0_8080", 2),
      inFlight(1, 0),
    ],
    [
      "more HTTP connections than the listeners' rows have, counted a moment before",
      rows("in", 3, 1, "0.0.0.0_8080", 2),
      inFlight(1, 0),
    ],
    [
      "a request that is the first of its listener",
      "http.in.downstream_cx_active: 1\nhttp.in.downstream_rq_active: 1\nlistener.0.0.0.0_8080.downstream_cx_active: 1\n",
      inFlight(1, 0),
    ],
  ])("%s", (_, text, expected) => {
    expect(count(text)).toEqual(expected);
  });

  test("connections, idle ones too, where Envoy shows no requests, as Istio's does not by default", () => {
    // istio pkg/bootstrap/config.go: of these only downstream_cx_active is included
    const text = `http.inbound_0.0.0.0_8080;.downstream_cx_active: 2
http.outbound_0.0.0.0_80;.downstream_cx_active: 5
http.agent.downstream_cx_active: 1
http.stats.downstream_cx_active: 1
listener.0.0.0.0_15001.downstream_cx_active: 5
listener.0.0.0.0_15006.downstream_cx_active: 3
listener.0.0.0.0_15006.worker_0.downstream_cx_active: 3
listener.0.0.0.0_15021.downstream_cx_active: 1
listener.0.0.0.0_15090.downstream_cx_active: 1
`;
    expect(count(text, "0.0.0.0_15001")).toEqual(inFlight(0, 3, false));
  });

  test("no requests shown, and no HTTP connections either, is nothing to explain", () => {
    const text = "http.inbound_0.0.0.0_8080;.downstream_cx_active: 0\nlistener.0.0.0.0_15006.downstream_cx_active: 1\n";
    expect(count(text)).toEqual(inFlight(0, 1));
  });

  describe("endpoints of the proxy itself are left out:", () => {
    test.each([
      ["Istio's readiness, 15021", rows("agent", 1, 1, "0.0.0.0_15021", 1)],
      ["Istio's statistics, 15090", rows("stats", 1, 1, "0.0.0.0_15090", 1)],
      ["the same on IPv6", rows("stats", 1, 1, "[__]_15090", 1)],
      ["before their first answer", "listener.0.0.0.0_15021.downstream_cx_active: 1\n"],
      ["Envoy Gateway's readiness", rows("eg-ready-http", 1, 1, "0.0.0.0_19003", 1)],
      ["Envoy Gateway's statistics", rows("eg-stats-http", 1, 1, "0.0.0.0_19001", 1)],
      ["Contour's statistics and readiness, on a port of theirs", rows("stats", 1, 1, "0.0.0.0_8002", 1)],
      ["Contour's readiness over TLS", rows("health", 1, 1, "0.0.0.0_8003", 1)],
      ["both of Contour's", rows("stats-health", 1, 1, "0.0.0.0_8004", 1)],
      ["Contour's admin over its socket", rows("envoy-admin", 1, 1, "0.0.0.0_9001", 1)],
      ["internal listeners", "listener.envoy_internal_connect_originate.downstream_cx_active: 4\n"],
    ])("%s", (_, text) => {
      expect(count(text)).toEqual(inFlight(0, 0));
    });

    test("but not a listener that serves the app too", () => {
      const text = rows("in", 1, 1, "0.0.0.0_8002", 2) + rows("stats", 1, 0, "0.0.0.0_8002", 2);
      expect(count(text)).toMatchObject({ requests: 1 });
    });

    test("nor a port that only ends like theirs", () => {
      expect(
        count("listener.0.0.0.0_8080.downstream_cx_active: 1\nlistener.0.0.0.0_115021.downstream_cx_active: 1\n"),
      ).toEqual(inFlight(0, 2));
    });
  });

  describe("outbound listeners are left out:", () => {
    test("TCP", () => {
      const text = "listener.10.0.0.1_5432.downstream_cx_active: 4\nlistener.0.0.0.0_15006.downstream_cx_active: 1\n";
      expect(count(text, "10.0.0.1_5432")).toEqual(inFlight(0, 1));
    });

    test("HTTP, known by a request that was answered there", () => {
      const text = rows("in", 2, 1, "0.0.0.0_15006", 2) + rows("calls", 7, 3, "0.0.0.0_80", 7);
      expect(count(text, "0.0.0.0_80")).toEqual(inFlight(1, 0));
    });

    test("HTTP, known by Istio's name for it before any was answered", () => {
      const text = `${rows("inbound_0.0.0.0_8080;", 1, 1, "0.0.0.0_15006", 1)}http.outbound_0.0.0.0_80;.downstream_cx_active: 7
http.outbound_0.0.0.0_80;.downstream_rq_active: 3
listener.0.0.0.0_15001.downstream_cx_active: 7
`;
      expect(count(text, "0.0.0.0_15001", "0.0.0.0_80")).toEqual(inFlight(1, 0));
    });

    test("HTTP, before any request was answered, where the others have no connection", () => {
      const text = `http.calls.downstream_cx_active: 2
http.calls.downstream_rq_active: 1
listener.127.0.0.1_80.downstream_cx_active: 2
`;
      expect(count(text, "127.0.0.1_80")).toEqual(inFlight(0, 0));
      // that connection may be raw TCP
      expect(count(`${text}listener.0.0.0.0_80.downstream_cx_active: 1\n`, "127.0.0.1_80")).toEqual(inFlight(1, 1));
    });

    test("with a stat_prefix that inbound has too: none of its connections hides another's", () => {
      const text = `${rows("http", 5, 0, "0.0.0.0_15006", 1)}${rows("http", 5, 0, "0.0.0.0_80", 4)}
listener.0.0.0.0_5432.downstream_cx_active: 1
`;
      expect(count(text, "0.0.0.0_80")).toEqual(inFlight(0, 1));
    });

    test("with a stat_prefix that inbound has too, which has no connection: the requests are outbound", () => {
      const text = `${rows("http", 1, 1, "0.0.0.0_15006", 0)}${rows("http", 1, 1, "0.0.0.0_80", 1)}${unsent("http", 9)}`;
      expect(count(text, "0.0.0.0_80")).toEqual(inFlight(0, 0));
      const withClient = rows("http", 2, 3, "0.0.0.0_15006", 1) + rows("http", 2, 3, "0.0.0.0_80", 1);
      expect(count(withClient, "0.0.0.0_80")).toEqual(inFlight(3, 0));
    });

    test("but where it is not known which they are, all are counted", () => {
      expect(count(rows("outbound_0.0.0.0_80", 7, 3, "0.0.0.0_80", 7))).toEqual(inFlight(3, 0));
    });
  });

  describe("a manager that was never asked", () => {
    const held = "http.grpc.downstream_cx_active: 2\nlistener.0.0.0.0_9090.downstream_cx_active: 2\n";
    const completed = "listener.0.0.0.0_9090.http.grpc.downstream_rq_completed: 0\n";
    const web = rows("web", 3, 1, "0.0.0.0_8080", 3);

    test.each<[string, string, ListenerCount]>([
      [
        "has no request, where Envoy shows all",
        `${held}${completed}http.grpc.downstream_rq_active: 0\n`,
        inFlight(1, 0),
      ],
      ["counts with its connections, where its requests are hidden, and no other does", held, inFlight(1, 2, false)],
      ["the same, known to be its listener's", `${held}${completed}`, inFlight(1, 2, false)],
    ])("%s", (_, text, expected) => {
      expect(count(web + text)).toEqual(expected);
    });

    test.each<[string, string, boolean]>([
      ["none has a connection but those that were asked", web, false],
      ["a TCP connection is there", `${web}listener.0.0.0.0_5432.downstream_cx_active: 1\n`, false],
      ["one that was never asked has a connection", web + held, true],
      ["it has shown all", web + held + completed, false],
      ["its stat_prefix is that of one that was asked", `${rows("grpc", 3, 1, "0.0.0.0_8080", 1)}${held}`, true],
      ["Envoy was hot-restarted", "server.hot_restart_epoch: 1\n", true],
      ["it was not", "server.hot_restart_epoch: 0\n", false],
      ["only the proxy itself has one", "http.agent.downstream_cx_active: 1\n", false],
    ])("makes ebb ask for all statistics, or not, where %s", (_, text, expected) => {
      expect(needsAll(parseStats(`${admin}${text}`))).toBe(expected);
    });
  });

  const side = fc.record({
    tcp: fc.nat(2),
    http: fc.array(fc.record({ manager: fc.constantFrom("a", "b", "c"), idle: fc.nat(2), busy: fc.nat(2) }), {
      maxLength: 3,
    }),
  });

  test.each([
    ["all statistics", true],
    ["those that do not tell whose a manager is", false],
  ])("nothing that clients have in flight is hidden by idle connections, by %s", (_, isAll) => {
    fc.assert(
      fc.property(fc.array(side, { maxLength: 3 }), fc.array(side, { maxLength: 3 }), (comingIn, goingOut) => {
        const name = (at: number, of: object) => (goingOut.includes(of as never) ? `127.0.0.1_${at}` : `0.0.0.0_${at}`);
        const lines = [...comingIn, ...goingOut].flatMap((each, at) => [
          `listener.${name(at, each)}.downstream_cx_active: ${each.tcp + sum(each.http, (to) => to.idle + to.busy)}`,
          ...(isAll ? each.http : []).map(
            (to) => `listener.${name(at, each)}.http.${to.manager}.downstream_rq_completed: 0`,
          ),
        ]);
        const all = [...comingIn, ...goingOut].flatMap(({ http }) => http);
        for (const manager of new Set(all.map((to) => to.manager))) {
          const its = all.filter((to) => to.manager === manager);
          lines.push(`http.${manager}.downstream_cx_active: ${sum(its, (to) => to.idle + to.busy)}`);
          lines.push(`http.${manager}.downstream_rq_active: ${sum(its, (to) => to.busy)}`);
        }
        const outbound = goingOut.map((each, at) => name(comingIn.length + at, each));
        const { requests, connections } = count(`${lines.join("\n")}\n`, ...outbound);
        const busy = sum(comingIn, ({ http }) => sum(http, (to) => to.busy));
        const tcp = sum(comingIn, (each) => each.tcp);
        const managersOf = (some: typeof comingIn) => some.flatMap(({ http }) => http.map((to) => to.manager));
        const isShared = managersOf(comingIn).some((manager) => managersOf(goingOut).includes(manager));
        if (isAll && !isShared) expect({ requests, connections }).toEqual({ requests: busy, connections: tcp });
        expect(requests).toBeGreaterThanOrEqual(busy);
        expect(connections).toBeGreaterThanOrEqual(tcp);
      }),
    );
  });

  test("what is counted is never negative, and nothing is hidden where no connection is HTTP", () => {
    const active = fc.nat(5);
    fc.assert(
      fc.property(fc.array(active), fc.array(active), (tcp, http) => {
        const tcpRows = tcp.map((each, at) => `listener.0.0.0.0_${7000 + at}.downstream_cx_active: ${each}\n`);
        const httpRows = http.map((each, at) => rows(`m${at}`, each, each, `0.0.0.0_${8000 + at}`, each));
        const total = (all: readonly number[]) => sum(all, (each) => each);
        expect(count([...tcpRows, ...httpRows].join(""))).toEqual(inFlight(total(http), total(tcp)));
      }),
    );
  });
});

function sum<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((before, each) => before + of(each), 0);
}

function unsent(manager: string, bytes: number): string {
  return `http.${manager}.downstream_cx_tx_bytes_buffered: ${bytes}\n`;
}

/** What Envoy says of a connection manager and a listener on which it has answered. */
function rows(manager: string, cx: number, rq: number, listener: string, listenerCx: number): string {
  return `http.${manager}.downstream_cx_active: ${cx}
http.${manager}.downstream_rq_active: ${rq}
listener.${listener}.downstream_cx_active: ${listenerCx}
listener.${listener}.http.${manager}.downstream_rq_completed: 3
listener.${listener}.worker_0.downstream_cx_active: ${listenerCx}
`;
}
