import { expect, test } from "bun:test";
import { statusLines } from "../../../../../src/pod/status/core/text.ts";
import { appSocket, envoy, istio, processes, snapshot } from "./snapshots.ts";

test("a snapshot is a page that a person can read", () => {
  expect(statusLines({ ...snapshot, findings: [{ kind: "zombies", message: "it is late" }] }).join("\n")).toBe(`\
istio: LIVE, ready
  found by   port 15021
  ready      http://localhost:15021/healthz/ready
  admin      http://localhost:15000
  version    Envoy 1.40.0, up 1h2m5s, hot restart epoch 0
  drain      not draining, immediate, within 45s, 0 connections closed by it so far
  in flight  nothing in flight
  LISTENER        ADDRESS        DIRECTION  CONNECTIONS
  virtualInbound  0.0.0.0:15006  inbound    3
  internal        (internal)     -          ?

LISTENING     CONNECTIONS                  PROCESS
0.0.0.0:8080  none                         ?
[::]:15020    1 established, 2 close_wait  7 pilot-agent
outgoing connections: 4 established
?: a process of another container, which is not seen here (shareProcessNamespace)

processes    4, this container's
PID 1, ebb   1 /ebb run -- /app: sleeping, for 1m
its command  7 /app: sleeping, for 59s

! it is late`);
});

test("unknown values are left out, and so are empty sections", () => {
  const unknown = { release: null, uptimeMs: null, epoch: null, drainStrategy: null, drainTimeMs: null, drained: null };
  const bare = { ...envoy, ...unknown, state: null, inFlight: null, listeners: [] };
  const probes = [{ target: "tcp://a:1", ready: false, reason: "connection refused" }];
  const sidecar = { ...istio, native: true, ready: false, probes, envoy: bare };
  const lines = statusLines({ ...snapshot, foundBy: null, sidecars: [sidecar], sockets: null, processes: null });
  expect(lines.join("\n")).toBe(`\
istio: NOT READY, native
  ready      tcp://a:1: connection refused
  admin      http://localhost:15000
  in flight  what is in flight cannot be seen

nothing stands out`);
});

test("a sidecar that nobody asks is not said to be ready", () => {
  const vault = { ...istio, name: "vault-agent", ready: null, probes: [], envoy: null } as const;
  expect(statusLines({ ...snapshot, sidecars: [vault] })[0]).toBe("vault-agent: not asked");
});

test("names that others have given cannot move the cursor", () => {
  const evil = "\x1b[2Jevil\r\n\u009b1A\u202e";
  const child = { pid: 7, name: evil, command: [evil], state: "sleeping", ageMs: null };
  const listening = [{ ...appSocket, pid: 7, process: evil, address: evil, port: null }];
  const text = statusLines({
    ...snapshot,
    sidecars: [{ ...istio, probes: [{ target: "x", ready: false, reason: evil }] }],
    sockets: { listening, outgoing: {} },
    processes: { ...processes, child, zombies: [{ pid: 8, name: evil, parent: 1 }] },
  }).join("\n");
  expect(text).toContain("evil");
  expect(text).not.toMatch(/[^\P{C}\n]/u);
});

test.each([
  [{ shared: true, unreadable: 2 }, "?: the descriptors of 2 processes of other users cannot be read"],
  [{ shared: true, unreadable: 0 }, "?: it has just ended"],
  [
    { shared: null, unreadable: 1 },
    "?: a process of another container, which is not seen here (shareProcessNamespace); or: ",
  ],
])("why a socket has no owner is said: %j", (more, why) => {
  const lines = statusLines({ ...snapshot, processes: { ...processes, ...more } });
  expect(lines.find((line) => line.startsWith("?: "))).toStartWith(why);
});

test("a long command line is cut", () => {
  const child = { pid: 7, name: "app", command: ["x".repeat(500)], state: "sleeping", ageMs: null };
  const line = statusLines({ ...snapshot, processes: { ...processes, child } }).find((text) => text.includes("xxx"));
  expect(line).toEndWith(`${"x".repeat(100)}...: sleeping`);
});
