import { expect, test } from "bun:test";
import type { EnvoyStatus } from "../../../src/core/envoy/status.ts";
import type { ListeningSocket } from "../../../src/core/proc/net.ts";
import { findingsOf } from "../../../src/core/status/findings.ts";
import type { ProcessesStatus, Snapshot, StatusFinding } from "../../../src/core/status/snapshot.ts";
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

test("where nothing stands out, nothing is found", () => {
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
    "was drained: 5 connections closed; 2 requests and 1 connection (idle",
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
