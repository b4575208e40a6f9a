import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { lineOf, startEbb } from "../harness.ts";

const MIB = 1024 * 1024;

/** What an older Envoy says of a cluster, which knows no filter. */
function cluster(name: string, active: number): string {
  const hosts = [0, 1, 2].map((host) => `${name}::10.0.${host}.1:8080::`);
  const gauges = ["cx_active", "cx_connect_fail", "cx_total", "rq_error", "rq_success", "rq_timeout", "rq_total"];
  const rows = hosts.flatMap((host) => [...gauges.map((gauge) => `${host}${gauge}::7`), `${host}rq_active::${active}`]);
  return `${name}::observability_name::${name}\n${rows.map((row) => `${row}\n`).join("")}`;
}

/** So many megabytes of outbound clusters, with an inbound one in their midst. */
function* clusters(bytes: number): Generator<string> {
  const others = Array.from({ length: 100 }, (_, at) =>
    cluster(`outbound|80||service-${at}.shop.svc.cluster.local`, 5),
  );
  const block = others.join("");
  for (let sent = 0; sent < bytes; sent += block.length) {
    yield sent === 0 ? block + cluster("inbound|8080||", 0) : block;
  }
}

/** An admin interface that shows no statistics, and clusters without end, or up to `bytes`. */
async function startEnvoy(bytes: number) {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => answer(socket, data.toString("latin1"), bytes));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
}

function answer(socket: Socket, request: string, bytes: number): void {
  const isClusters = request.startsWith("GET /clusters");
  if (!isClusters) {
    const body = /^GET \/(listeners|config_dump)/.test(request) ? "{}" : "";
    return void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  }
  socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  const pieces = clusters(bytes);
  const more = (): void => {
    for (;;) {
      const { value } = pieces.next();
      if (value === undefined || socket.destroyed) return void socket.end();
      if (!socket.write(value)) return;
    }
  };
  socket.on("drain", more);
  more();
}

/** Drains beside that Envoy; how it ended, and how much memory it had at most. */
async function drain(bytes: number, drainFor = "30s") {
  await using envoy = await startEnvoy(bytes);
  const flags = ["--sidecar", "istio", "--admin", envoy.url, "--min-drain", "0s", "--drain", drainFor];
  await using ebb = startEbb(["drain", ...flags]);
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(ebb.pid));
  }, 5);
  const ended = await ebb.ended;
  clearInterval(look);
  return { ended, peak };
}

/** Of /proc/PID/status: 0 where the process has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

test("what is under way is counted in 32 MB of clusters, in no more memory than in 1 MB", async () => {
  const few = await drain(1 * MIB);
  const many = await drain(32 * MIB);
  for (const { ended } of [few, many]) {
    expect(lineOf(ended, "counting the work in flight").countedBy).toBe("clusters");
    expect(ended.code).toBe(0);
  }
  expect(many.peak - few.peak).toBeLessThan(16 * MIB);
}, 60_000);

test("clusters without end take neither memory nor the end of the drain", async () => {
  const { ended, peak } = await drain(Number.POSITIVE_INFINITY, "4s");
  expect(ended.code).toBe(69);
  expect(peak).toBeLessThan(64 * MIB);
}, 60_000);
