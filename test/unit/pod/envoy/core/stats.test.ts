import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countInFlight } from "../../../../../src/pod/envoy/core/counts.ts";
import { parseStats, readStats, statsPath } from "../../../../../src/pod/envoy/core/stats.ts";
import { admin } from "./stats-texts.ts";

describe("parseStats", () => {
  test("reads counters and gauges, and leaves the rest out", () => {
    const text = [
      "cluster.app.upstream_rq_active: 3",
      "listener.[__1]_8080.downstream_cx_active: 0",
      'server.version_text: "1.40: 2"',
      "http.in.downstream_rq_time: P0(nan,1.0) P25(nan,1.025)",
      "http.in.downstream_cx_length_ms: No recorded values",
      "no colon",
      ": 5",
      "negative: -1",
      "",
    ].join("\n");
    const stats = parseStats(text);
    expect(stats.size).toBe(2);
    expect([...stats.listeners]).toEqual([["[__1]_8080", { active: 0, managers: [] }]]);
  });

  test("reads lines that end in CRLF", () => {
    const names = [
      "http.a.downstream_cx_active",
      "http.a.downstream_rq_active",
      "http.a.downstream_cx_tx_bytes_buffered",
    ];
    const stats = parseStats(names.map((name, at) => `${name}: ${at}\r\n`).join(""));
    expect([...stats.managers]).toEqual([["a", { name: "a", connections: 0, requests: 1, unsent: 2 }]]);
  });

  test("reads anything without failing", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void countInFlight(parseStats(text))));
  });
});

test.each([
  ["an idle Envoy's, where the asking connection counts", admin, true],
  ["nothing, because a stats matcher leaves all of it out,", "", true],
  ["other statistics", "server.live: 1\n", true],
  ["a refusal", "Forbidden", false],
  ["an answer in HTML", "<html><body>downstream_cx_active</body></html>", false],
])("%s is statistics: %s", (_, text, expected) => {
  expect(readStats(text) !== undefined).toBe(expected);
});

test.each([
  ["all", admin, { requests: true, connections: true }],
  ["connections alone", "listener.admin.downstream_cx_active: 1\n", { requests: false, connections: true }],
  ["requests alone", "http.admin.downstream_rq_active: 1\n", { requests: true, connections: false }],
  ["connections of HTTP alone", "http.admin.downstream_cx_active: 1\n", { requests: false, connections: false }],
  ["nothing", "", { requests: false, connections: false }],
])("an Envoy that publishes %s", (_, text, expected) => {
  expect(parseStats(text).published).toEqual(expected);
});

test("the path asks for no more than what is counted", () => {
  const filter = new RegExp(new URL(statsPath, "http://admin").searchParams.get("filter") as string);
  const asked = [
    "http.in.downstream_rq_active",
    "http.in.downstream_cx_active",
    "http.in.downstream_cx_tx_bytes_buffered",
    "listener.0.0.0.0_8080.downstream_cx_active",
    "listener.0.0.0.0_8080.http.in.downstream_rq_completed",
    "server.hot_restart_epoch",
  ];
  expect(asked.filter((name) => filter.test(name))).toEqual(asked);
  const others = [
    "cluster.app.upstream_rq_active",
    "http.in.downstream_rq_2xx",
    "server.live",
    "listener.a.downstream_cx_total",
  ];
  expect(others.filter((name) => filter.test(name))).toEqual([]);
});
