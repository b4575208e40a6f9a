import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type HttpTarget, parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import type { HttpAnswer } from "../../../../../src/shared/http/core/http-framing.ts";
import {
  attemptToEnd,
  chooseJudge,
  describeProbe,
  hintAtTcp,
  judgeStatus,
  type Probe,
  parseProbe,
  parseTarget,
  pollPeriodMs,
} from "../../../../../src/shared/sidecars/core/probe.ts";

const connect = (host: string, port: number): Probe => ({ kind: "connect", address: { kind: "tcp", host, port } });
const socket = (path: string): Probe => ({ kind: "connect", address: { kind: "unix", path } });
const grpc = (host: string, service = "", isSecure = false): Probe => ({
  kind: "grpc",
  target: { address: { kind: "tcp", host, port: 50051 }, isSecure, authority: `${formatHost(host)}:50051` },
  service,
});
const formatHost = (host: string) => (host.includes(":") ? `[${host}]` : host);
const file = (path: string): Probe => ({ kind: "file", path });

describe("a target's text says what to probe, and is how it is called in logs", () => {
  test.each<[string, Probe]>([
    ["tcp://localhost:5432", connect("localhost", 5432)],
    ["tcp://10.0.0.1:1", connect("10.0.0.1", 1)],
    ["tcp://db.example:65535", connect("db.example", 65535)],
    ["tcp://[::1]:5432", connect("::1", 5432)],
    ["tcp://[0:0:0:0:0:0:0:1]:1", connect("0:0:0:0:0:0:0:1", 1)],
    ["tcp://[::ffff:10.0.0.1]:80", connect("::ffff:10.0.0.1", 80)],
    ["unix:/app.sock", socket("/app.sock")],
    ["file:/tmp/ready", file("/tmp/ready")],
    ["file:/tmp/ready?nonempty", { kind: "file", path: "/tmp/ready", isNotEmpty: true }],
    ["file:/tmp/ready?", file("/tmp/ready?")],
    ["grpc://db:50051", grpc("db")],
    ["grpc://[::1]:50051", grpc("::1")],
    ["grpc://db:50051/grpc.health.v1.Health", grpc("db", "grpc.health.v1.Health")],
    ["grpcs://db:50051/a/b", grpc("db", "a/b", true)],
    ["http://localhost:8080/health?x", http("http://localhost:8080/health?x")],
    ["https://localhost:8443/", http("https://localhost:8443/")],
  ])("%s", (text, probe) => {
    expect(parseProbe(text)).toEqual(probe);
    expect(describeProbe(probe)).toBe(text);
  });

  test.each<[string, Probe]>([
    ["tcp://localhost:5432/", connect("localhost", 5432)],
    ["TCP://localhost:05432", connect("localhost", 5432)],
    ["tcp://LOCALHOST:80", connect("localhost", 80)],
    ["GRPCS://DB:50051/A", grpc("db", "A", true)],
    ["grpc://db:50051/", grpc("db")],
    ["unix:///app.sock", socket("/app.sock")],
    ["file:///tmp/ready", file("/tmp/ready")],
    ["http://localhost", http("http://localhost:80/")],
  ])("%s, another way to write it", (text, probe) => {
    expect(parseProbe(text)).toEqual(probe);
  });
});

test.each([
  "",
  "tcp://a b:80",
  ..."localhost:5432 tcp://localhost tcp://localhost: tcp://localhost:0 tcp://localhost:65536".split(" "),
  ..."tcp://localhost:99999 tcp://localhost:123456 tcp://localhost:80/path tcp://:80 tcp://::1:80".split(" "),
  ..."grpc://db grpc://db:0 grpc:db:50051 grpc://u@db:50051 grpc://db:50051/a?b grpc://db:50051/a#b grpc://:1".split(
    " ",
  ),
  ..."tcp://[db]:80 file:ready file: unix:app.sock udp://localhost:53 http://".split(" "),
])("%p is nothing that can be probed", (text) => {
  expect(parseProbe(text)).toBeUndefined();
});

test("a connection to a target of a user must stay open, to one of a sidecar it need not", () => {
  expect(parseTarget("tcp://db:5432")).toEqual({ ...connect("db", 5432), staysOpenMs: 100 } as Probe);
  expect(parseTarget("unix:/db.sock")).toEqual({ ...socket("/db.sock"), staysOpenMs: 100 } as Probe);
  for (const text of ["file:/ready", "http://db/", "db"]) expect(parseTarget(text)).toEqual(parseProbe(text));
});

test.each([
  ["db:5432", "; did you mean tcp://db:5432?"],
  ["secret@db:5432", "; did you mean tcp://***@db:5432?"],
  ["db", ""],
  ["http://", ""],
])("a target %s without its scheme is hinted at by %p", (text, hint) => {
  expect(hintAtTcp(text)).toBe(hint);
});

test("no text makes the reading of a target throw", () => {
  const scheme = fc.constantFrom("", "tcp://", "grpc://", "http://", "https://", "unix:", "file:");
  fc.assert(
    fc.property(scheme, fc.string(), (scheme, rest) => {
      const probe = parseProbe(scheme + rest);
      if (probe !== undefined) expect(describeProbe(probe)).toStartWith(probe.kind === "file" ? "file:/" : "");
    }),
  );
});

function http(url: string): Probe {
  const target = parseHttpTarget(url);
  if (target === undefined) throw new Error(`not a URL: ${url}`);
  return { kind: "http", target };
}

const answer = (status: number, body = "", headers: readonly (readonly [string, string])[] = []): HttpAnswer => ({
  status,
  headers: new Map(headers),
  body,
  isReusable: true,
});

test.each([200, 201, 204, 299])("HTTP %d is ready", (status) => {
  expect(judgeStatus(answer(status, "whatever"))).toEqual({ ready: true });
});

test.each<[HttpAnswer, string]>([
  [answer(503), "HTTP 503"],
  [answer(503, " \r\n"), "HTTP 503"],
  [answer(503, "PRE_INITIALIZING\n"), 'HTTP 503 "PRE_INITIALIZING"'],
  [answer(404, "no\nsuch\tpath"), 'HTTP 404 "no such path"'],
  [answer(500, "x".repeat(61)), `HTTP 500 "${"x".repeat(60)}..."`],
  [answer(199), "HTTP 199"],
  [answer(300), 'HTTP 300, a redirect to ""'],
  [answer(302, "body", [["location", "/login"]]), 'HTTP 302, a redirect to "/login"'],
  [answer(399), 'HTTP 399, a redirect to ""'],
  [answer(400), "HTTP 400"],
])("%j is not ready, and the reason is %s", (given, reason) => {
  expect(judgeStatus(given)).toEqual({ ready: false, reason });
});

test.each<[number, string, string | undefined]>([
  [200, '{"state":"DRAINING"}', undefined],
  [204, "", "HTTP 204, expected 200"],
  [503, "", "HTTP 503"],
])("HTTP %d %s is not ready where 200 alone counts, because of %p", (status, body, reason) => {
  const verdict = chooseJudge({ ...httpProbe("http://localhost/server_info"), only: 200 })(answer(status, body));
  expect(verdict).toEqual(reason === undefined ? { ready: true } : { ready: false, reason });
});

describe("readiness is asked often enough to be noticed", () => {
  test.each([
    [0, 10],
    [2999.9, 10],
    [3000, 25],
    [59_999, 25],
    [60_000, 250],
    [86_400_000, 250],
  ])("after %d ms of waiting, within %d ms", (waitedMs, boundMs) => {
    expect(pollPeriodMs(waitedMs)).toBeLessThan(boundMs);
    expect(pollPeriodMs(waitedMs)).toBeGreaterThanOrEqual(boundMs * 0.8);
  });
});

describe("of /server_info the state counts, as scuttle and envoy-preflight have it", () => {
  const judgeInfo = chooseJudge(httpProbe("http://localhost:15000/server_info"));

  test("LIVE is ready", () => {
    expect(judgeInfo(answer(200, JSON.stringify({ version: "1", state: "LIVE" })))).toEqual({ ready: true });
  });

  test.each([
    [200, '{"state":"INITIALIZING"}', 'state "INITIALIZING"'],
    [200, '{"state":"DRAINING"}', 'state "DRAINING"'],
    [200, '{"node":{"state":"LIVE"}}', "no state in "],
    [200, '{"state":1}', "no state in "],
    [200, "null", 'no state in "null"'],
    [200, "LIVE", 'no state in "LIVE"'],
    [503, '{"state":"LIVE"}', "HTTP 503 "],
  ])("%i %s is not", (status, body, reason) => {
    expect(judgeInfo(answer(status, body))).toEqual({ ready: false, reason: expect.stringContaining(reason) });
  });

  test("of any other path the status counts", () => {
    const judgeReady = chooseJudge(httpProbe("http://localhost:15000/ready?server_info"));
    expect(judgeReady(answer(200, "state?"))).toEqual({ ready: true });
  });
});

describe("of attempts that hang, those go on that a slow answer needs", () => {
  const PERIOD_MS = 9;

  /** How long after the wait began an attempt is answered, if each that begins at `since` or later takes `tookMs`. */
  function answeredAt(since: number, tookMs: number): number {
    const attempts: number[] = [];
    for (let now = 0; now < 60_000; now += PERIOD_MS) {
      const answered = attempts.find((begun) => begun >= since && now - begun >= tookMs);
      if (answered !== undefined) return answered + tookMs;
      if (attempts.length >= 8) attempts.splice(attemptToEnd(now - (attempts[1] ?? 0), now), 1);
      attempts.push(now);
    }
    return Number.POSITIVE_INFINITY;
  }

  test.each([1, 9, 10, 20, 50, 120, 400, 1000, 2000, 8000])("one of %d ms", (tookMs) => {
    for (let since = 0; since < 6000; since += 41) {
      expect(answeredAt(since, tookMs)).toBeLessThanOrEqual(2 * since + 4 * tookMs + 20 * PERIOD_MS);
    }
  });
});

test("an answer with the text that does not count is not ready, any other is", () => {
  const judgeReady = chooseJudge({ ...httpProbe("http://localhost:9902/ready"), except: "READY" });
  expect(judgeReady(answer(200, "READY"))).toEqual({
    ready: false,
    reason: 'HTTP 200 "READY", which does not prove it is ready',
  });
  expect(judgeReady(answer(200, "LIVE\n"))).toEqual({ ready: true });
  expect(judgeReady(answer(503, "TERMINATING"))).toEqual({ ready: false, reason: 'HTTP 503 "TERMINATING"' });
});

test("several of which one is enough are described as such", () => {
  const probes = ["tcp://localhost:9091", "http://localhost:9902/ready"].map((text) => parseProbe(text) as Probe);
  expect(describeProbe({ kind: "any", probes })).toBe("tcp://localhost:9091 or http://localhost:9902/ready");
});

function httpProbe(url: string): Extract<Probe, { kind: "http" }> {
  return { kind: "http", target: parseHttpTarget(url) as HttpTarget };
}
