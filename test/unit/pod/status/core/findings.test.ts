import { describe, expect, test } from "bun:test";
import type { EnvoyStatus } from "../../../../../src/pod/envoy/core/status.ts";
import type { ListeningSocket } from "../../../../../src/pod/process/core/net.ts";
import { elsewhereIn } from "../../../../../src/pod/status/core/elsewhere.ts";
import { findingsOf as allFindings, type Looked } from "../../../../../src/pod/status/core/findings.ts";
import type { ProcessesStatus, Snapshot, StatusFinding } from "../../../../../src/pod/status/core/snapshot.ts";
import { targetOf } from "../../../../../src/shared/sidecars/core/own-probes.ts";
import { planSidecars } from "../../../../../src/shared/sidecars/core/plan.ts";
import type { Sidecar } from "../../../../../src/shared/sidecars/core/sidecar.ts";
import { agentSocket, appSocket, envoy, istio, processes, snapshot } from "./snapshots.ts";

const withEnvoy = (more: Partial<EnvoyStatus>): Partial<Snapshot> => ({
  sidecars: [{ ...istio, envoy: { ...envoy, ...more } }],
});
const withSocket = (more: Partial<ListeningSocket>): Partial<Snapshot> => ({
  sockets: { listening: [agentSocket, { ...appSocket, ...more }], outgoing: {} },
});
const withProcesses = (more: Partial<ProcessesStatus>): Partial<Snapshot> => ({ processes: { ...processes, ...more } });
const inFlight = { requests: 2, connections: 1, hasRequests: true, countedBy: "listeners" } as const;
const reason = 'HTTP 503 "DRAINING"';

const findingsOf = (seen: Snapshot, looked: Partial<Looked> = {}) =>
  allFindings(seen, { doubts: [], elsewhere: [], isByInit: false, ...looked });

test("a pod in which nothing stands out has no findings", () => {
  expect(findingsOf(snapshot)).toEqual([]);
  expect(findingsOf({ ...snapshot, ...withEnvoy({ drained: 5 }) })).toEqual([]);
});

test.each<[StatusFinding["kind"], Partial<Snapshot>, string]>([
  ["no-sidecar", { sidecars: [], foundBy: null }, "no sidecar found"],
  ["no-sockets", { sockets: null }, "/proc/net"],
  ["no-processes", { processes: null }, "/proc cannot be read"],
  [
    "not-ready",
    { sidecars: [{ ...istio, ready: false, probes: [{ target: "http://a/ready", ready: false, reason }] }] },
    `istio is not ready: http://a/ready: ${reason}`,
  ],
  [
    "admin",
    withEnvoy({ problems: ["connection refused"], state: null }),
    "http://localhost:15000 did not answer everything: connection refused",
  ],
  ["initializing", withEnvoy({ state: "PRE_INITIALIZING" }), "its clusters still wait for"],
  ["initializing", withEnvoy({ state: "INITIALIZING" }), "still waits for listeners or routes"],
  ["draining", withEnvoy({ state: "DRAINING", inFlight }), "2 requests and 1 connection still in flight"],
  ["draining", withEnvoy({ state: "DRAINING" }), "nothing in flight"],
  ["draining", withEnvoy({ state: "DRAINING", inFlight: null }), "cannot be seen"],
  [
    "drained",
    withEnvoy({ drained: 5, inFlight: { ...inFlight, hasRequests: false } }),
    "was drained: 5 connections closed; 2 requests and 1 connection (including idle",
  ],
  ["no-listeners", withEnvoy({ listeners: [] }), "has no listener"],
  ["no-agent", { sockets: { listening: [appSocket], outgoing: {} } }, "nothing listens on 15020"],
  ["app-ended", withProcesses({ appEnded: true }), "ebb quit"],
  [
    "not-started",
    withProcesses({
      child: null,
      init: {
        pid: 1,
        name: "ebb",
        command: ["/ebb", "run", "--admin", "http://h:1", "--", "/app"],
        state: "sleeping",
        ageMs: 530_000,
      },
      initIsEbb: true,
    }),
    "ebb (PID 1) runs for 8m50s and its command does not run: it waits for what its own options name (/ebb run --admin http://h:1 -- /app)",
  ],
  ["app-unseen", withProcesses({ appSeen: false }), "If kubectl get pod says that it has ended"],
  [
    "app-stuck",
    withProcesses({ child: { pid: 7, name: "app", command: [], state: "stopped", ageMs: 1 } }),
    "the app (process 7, app) is stopped: it waits for SIGCONT",
  ],
  [
    "app-stuck",
    withProcesses({ child: null, init: { pid: 1, name: "app", command: [], state: "uninterruptible", ageMs: 1 } }),
    "the app (process 1, app)",
  ],
  [
    "zombies",
    withProcesses({
      zombies: [
        { pid: 8, name: "sh", parent: 1 },
        { pid: 9, name: "sh", parent: 1 },
      ],
    }),
    "2 zombies (sh): process 1 does not reap",
  ],
  ["not-accepting", withSocket({ backlog: 1, process: "app" }), "0.0.0.0:8080 (app): 1 connection not accepted yet"],
  [
    "close-wait",
    withSocket({ connections: { close_wait: 10 } }),
    "0.0.0.0:8080: 10 connections in CLOSE_WAIT: their clients have closed them, the process has not",
  ],
])("%s", (kind, changed, message) => {
  expect(findingsOf({ ...snapshot, ...changed })).toEqual([{ kind, message: expect.stringContaining(message) }]);
});

test("an Istio whose Envoy does not answer either is not said to have lost its agent", () => {
  const { sidecars } = withEnvoy({ state: null, problems: ["connection refused"] });
  const found = findingsOf({ ...snapshot, sidecars: sidecars ?? [], sockets: { listening: [], outgoing: {} } });
  expect(found.map(({ kind }) => kind)).toEqual(["admin"]);
});

describe("an ebb that is PID 1 and has no command yet, judged by its own options", () => {
  const init = { pid: 1, name: "ebb", command: ["/ebb", "run", "--", "/app"], state: "sleeping", ageMs: 60_000 };
  const waiting = withProcesses({ child: null, init, initIsEbb: true });
  const probes = [
    { target: "http://localhost:9000/ready", ready: false, reason: "connection refused" },
    { target: "tcp://db:5432", ready: true, reason: null },
  ];

  test("what it waits for, and why that does not come", () => {
    const sidecars = [{ ...istio, ready: false, probes }];
    const found = findingsOf({ ...snapshot, ...waiting, sidecars }, { isByInit: true });
    expect(found.find(({ kind }) => kind === "not-started")?.message).toBe(
      "ebb (PID 1) runs for 1m and its command does not run: it waits for http://localhost:9000/ready: connection refused (/ebb run -- /app)",
    );
  });

  test("that all of it is ready", () => {
    const [found] = findingsOf({ ...snapshot, ...waiting }, { isByInit: true });
    expect(found).toMatchObject({
      kind: "not-started",
      message: expect.stringContaining("everything that it waits for is ready"),
    });
  });

  test("that it says itself that there is no sidecar", () => {
    const [found] = findingsOf({ ...snapshot, sidecars: [], foundBy: "--sidecar of PID 1" }, { isByInit: true });
    expect(found).toEqual({ kind: "no-sidecar", message: "no sidecar: --sidecar of PID 1 says that there is none" });
  });
});

describe("a proxy that answers elsewhere", () => {
  const [asked] = planSidecars([{ name: "envoy", isNative: true }], {
    admin: targetOf("http://localhost:9000"),
    ready: [],
    quit: [],
  });
  const [linkerd] = planSidecars([{ name: "linkerd", isNative: true }], { admin: undefined, ready: [], quit: [] });
  const findings = [
    { name: "envoy", by: "port 8001", admin: "http://localhost:8001" },
    { name: "linkerd", by: "port 4191" },
  ] as const;

  test("is told, with what would name it", () => {
    const elsewhere = elsewhereIn(findings, [asked as Sidecar, linkerd as Sidecar]);
    expect(elsewhere).toEqual([{ name: "envoy", admin: "http://localhost:8001" }]);
    const [found] = findingsOf(snapshot, { elsewhere });
    expect(found?.kind).toBe("elsewhere");
    expect(found?.message).toEndWith("--sidecar envoy --admin http://localhost:8001 would name it");
  });

  test("but not one that is asked already", () => {
    expect(elsewhereIn(findings.slice(1), [linkerd as Sidecar])).toEqual([]);
  });
});
