import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { MiB } from "../../../src/shared/io/input.ts";
import { ebb, startEbb, until } from "../../harness/ebb.ts";
import { listen } from "../../harness/free-port.ts";
import { memoryOf } from "../../harness/processes.ts";
import { pour } from "../../stand-in/raw-server.ts";

const pem = join(import.meta.dirname, "../../fixtures/localhost.pem");
const env = { NODE_EXTRA_CA_CERTS: pem };

interface Hostile {
  readonly server: Server;
  /** As many connections were made, and are open. */
  accepted: number;
  open: number;
}

/** A record of a handshake that announces 16 KB, and then a byte at a time. */
const RECORD = "\x16\x03\x03\x40\x00\x02\x00\x3f\xfc";

function writeEach(socket: Socket, ms: number, first: string, then: string): void {
  socket.write(first, "latin1");
  const timer = setInterval(() => socket.write(then), ms);
  socket.on("close", () => clearInterval(timer));
}

const beforeTls: Readonly<Record<string, (socket: Socket) => void>> = {
  "no handshake": (socket) => void socket.resume(),
  "a handshake drop by drop": (socket) => writeEach(socket.resume(), 10, RECORD, "\0"),
};
const OK = "HTTP/1.1 200 OK\r\n";
const overTls: Readonly<Record<string, (socket: Socket) => void>> = {
  "a body that never comes": (socket) => void socket.once("data", () => socket.write(`${OK}Content-Length: 9\r\n\r\n`)),
  "headers line by line": (socket) => void socket.once("data", () => writeEach(socket, 10, OK, "X: y\r\n")),
  "headers without an end": (socket) =>
    void socket.once("data", () => {
      socket.write(OK);
      pour(socket, "X: y\r\n");
    }),
  "a body without an end": (socket) =>
    void socket.once("data", () => {
      socket.write(`${OK}\r\n`);
      pour(socket, "x".repeat(1000));
    }),
};

const servers = new Map<string, Hostile>();

beforeAll(async () => {
  const certificate = { key: readFileSync(pem), cert: readFileSync(pem) };
  const start = async (name: string, server: Server): Promise<void> => {
    const hostile: Hostile = { server, accepted: 0, open: 0 };
    server.on("connection", (socket) => {
      hostile.accepted += 1;
      hostile.open += 1;
      socket.on("error", () => undefined);
      socket.on("close", () => {
        hostile.open -= 1;
      });
    });
    server.on("secureConnection", (socket: Socket) => socket.on("error", () => undefined));
    servers.set(name, hostile);
    await listen(server);
  };
  for (const [name, serve] of Object.entries(beforeTls)) await start(name, createTcpServer(serve));
  for (const [name, serve] of Object.entries(overTls)) await start(name, createTlsServer(certificate, serve));
});
afterAll(() => {
  for (const { server } of servers.values()) server.close();
});

function at(name: string): Hostile & { readonly url: string } {
  const hostile = servers.get(name);
  if (hostile === undefined) throw new Error(name);
  return Object.assign(hostile, { url: `https://localhost:${(hostile.server.address() as AddressInfo).port}/x` });
}

describe.each([...Object.keys(beforeTls), ...Object.keys(overTls)])("%s:", (name) => {
  test("quit and request end in time", async () => {
    const { url } = at(name);
    const quit = ebb(["quit", "--sidecar", "none", "--quit-timeout", "300ms", "--quit", url], { env });
    const request = ebb(["request", "--timeout", "300ms", url], {
      env,
      through: ["sh", "-c", 'exec "$@" >/dev/null', "sh"],
    });
    expect([(await quit).code, (await request).code]).toEqual([69, 69]);
  });

  test("200 attempts cost no more than a few", async () => {
    const hostile = at(name);
    const { accepted } = hostile;
    await using started = startEbb(["wait", "--sidecar", "none", "--wait-timeout", "5m", hostile.url], { env });
    await until("200 attempts", () => hostile.accepted - accepted >= 200);
    expect(readdirSync(`/proc/${started.pid}/fd`).length).toBeLessThan(40);
    expect(memoryOf(started.pid, "VmRSS")).toBeLessThan(128 * MiB);
    started.kill("SIGTERM");
    expect((await started.ended).code).toBe(143);
    await until("all connections are closed", () => hostile.open === 0);
  });
});
