import type { EnvoyStatus } from "../../../../../src/pod/envoy/core/status.ts";
import type { ListeningSocket } from "../../../../../src/pod/process/core/net.ts";
import type { ProcessesStatus, SidecarStatus, Snapshot } from "../../../../../src/pod/status/core/snapshot.ts";

// Parts of a pod in which nothing stands out; each test changes some.

export const envoy: EnvoyStatus = {
  admin: "http://localhost:15000",
  problems: [],
  state: "LIVE",
  release: "1.40.0",
  uptimeMs: 3_725_000,
  epoch: 0,
  drainStrategy: "immediate",
  drainTimeMs: 45_000,
  drained: 0,
  inFlight: { requests: 0, connections: 0, hasRequests: true, countedBy: "listeners" },
  listeners: [
    { name: "virtualInbound", address: "0.0.0.0:15006", direction: "inbound", connections: 3 },
    { name: "internal", address: null, direction: null, connections: null },
  ],
};

export const istio: SidecarStatus = {
  name: "istio",
  native: false,
  ready: true,
  probes: [{ target: "http://localhost:15021/healthz/ready", ready: true, reason: null }],
  envoy,
};

export const agentSocket: ListeningSocket = {
  ...{ protocol: "tcp", address: "::", port: 15020, pid: 7, process: "pilot-agent" },
  ...{ backlog: 0, connections: { established: 1, close_wait: 2 } },
};

export const appSocket: ListeningSocket = {
  ...{ protocol: "tcp", address: "0.0.0.0", port: 8080, pid: null, process: null },
  ...{ backlog: 0, connections: {} },
};

export const processes: ProcessesStatus = {
  count: 4,
  unreadable: 0,
  shared: false,
  init: { pid: 1, name: "ebb", command: ["/ebb", "run", "--", "/app"], state: "sleeping", ageMs: 60_000 },
  initIsEbb: true,
  child: { pid: 7, name: "app", command: ["/app"], state: "sleeping", ageMs: 59_000 },
  zombies: [],
  appEnded: null,
  appSeen: true,
};

export const snapshot: Snapshot = {
  version: 1,
  time: "2026-11-21T09:00:00.000Z",
  foundBy: "port 15021",
  sidecars: [istio],
  sockets: { listening: [appSocket, agentSocket], outgoing: { established: 4 } },
  processes,
  findings: [],
};
