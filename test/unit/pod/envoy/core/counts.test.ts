import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countInFlight, type ListenerCount } from "../../../../../src/pod/envoy/core/counts.ts";
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
      expect(count(`${text}listener.0.0.0.0_80.downstream_cx_active: 1\n`, "127.0.0.1_80")).toEqual(inFlight(1, 0));
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

  test("what is counted is never negative, and nothing is hidden where no connection is HTTP", () => {
    const active = fc.nat(5);
    fc.assert(
      fc.property(fc.array(active), fc.array(active), (tcp, http) => {
        const tcpRows = tcp.map((each, at) => `listener.0.0.0.0_${7000 + at}.downstream_cx_active: ${each}\n`);
        const httpRows = http.map((each, at) => rows(`m${at}`, each, each, `0.0.0.0_${8000 + at}`, each));
        const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0);
        expect(count([...tcpRows, ...httpRows].join(""))).toEqual(inFlight(sum(http), sum(tcp)));
      }),
    );
  });
});

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
