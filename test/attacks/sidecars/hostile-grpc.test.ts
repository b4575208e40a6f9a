import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { MiB } from "../../../src/shared/io/input.ts";
import { startEbb, until } from "../../harness/ebb.ts";
import { listen } from "../../harness/free-port.ts";
import { memoryOf } from "../../harness/processes.ts";
import { pour } from "../../stand-in/raw-server.ts";

setDefaultTimeout(120_000);

/** Encodes an HTTP/2 frame (RFC 9113, section 4.1), whose length may be a lie. */
function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
  length = payload.length,
): string {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]).toString("latin1");
}

/** Encodes headers as literals (RFC 7541, section 6.2.2). */
function headers(...list: readonly (readonly [string, string])[]): Buffer {
  return Buffer.from(list.map(([name, value]) => `\0${field(name)}${field(value)}`).join(""), "latin1");
}

const field = (text: string) => `${String.fromCharCode(text.length)}${text}`;

const [DATA, HEADERS, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION, UNKNOWN] = [
  0, 1, 3, 4, 5, 6, 7, 8, 9, 99,
];
const [END_STREAM, END_HEADERS] = [1, 4];
const ok = headers([":status", "200"], ["content-type", "application/grpc"]);
const head = frame(HEADERS, END_HEADERS, 1, ok);
const number = (value: number) => Buffer.from([0, 0, 0, value]);
const goaway = frame(GOAWAY, 0, 0, Buffer.alloc(8));

/** Of the frame that begins a call: HEADERS, END_HEADERS, stream 1. */
const CALL = String.fromCharCode(HEADERS, END_HEADERS, 0, 0, 0, 1);

/** What a server sends once the call has come: `first`, and `pours` over and over. */
interface Hostile {
  readonly first?: string;
  readonly pours?: string;
  /** It reads nothing. */
  readonly isDeaf?: true;
}

const servers: Readonly<Record<string, Hostile>> = {
  nothing: {},
  "a head without an end": {
    first: frame(HEADERS, 0, 1, ok),
    pours: frame(CONTINUATION, 0, 1, headers(["x", "y".repeat(99)])),
  },
  "heads without an end": { pours: frame(HEADERS, END_HEADERS, 1, headers([":status", "103"])) },
  "a head that refers to itself again and again": {
    // one long header is kept, and stands for a byte from then on
    first: frame(HEADERS, 0, 1, Buffer.concat([ok, Buffer.from(`\x40\x01x\x7f\x00${"a".repeat(127)}`, "latin1")])),
    pours: frame(CONTINUATION, 0, 1, Buffer.alloc(16_384, 0xbe)),
  },
  "a frame longer than it may be": {
    first: head + frame(DATA, 0, 1, Buffer.alloc(9), 0xffffff),
    pours: "x".repeat(1000),
  },
  "data without an end": { first: head, pours: frame(DATA, 0, 1, Buffer.alloc(16_000)) },
  "empty data without an end": { first: head, pours: frame(DATA, 0, 1) },
  "an answer without trailers, whose stream stays open": {
    first: head + frame(DATA, 0, 1, Buffer.from([0, 0, 0, 0, 2, 8, 1])),
  },
  "trailers before a head": { first: frame(HEADERS, END_HEADERS | END_STREAM, 1, headers(["grpc-status", "0"])) },
  "pings, and reads nothing": { pours: frame(PING, 0, 0, Buffer.alloc(8)), isDeaf: true },
  "settings, and reads nothing": { pours: frame(SETTINGS, 0, 0), isDeaf: true },
  "a smaller window each time": { pours: frame(WINDOW, 0, 0, number(1)) },
  pushes: { pours: frame(PUSH, END_HEADERS, 1, Buffer.concat([number(2), headers([":method", "GET"])])) },
  "frames of an unknown type": { pours: frame(UNKNOWN, 0, 0, Buffer.alloc(1000)) },
  "GOAWAY at once": { first: goaway },
  "GOAWAY again and again": { pours: goaway },
  "a reset": { first: frame(RST, 0, 1, number(7)) },
  "HTTP/1.1": { first: "HTTP/1.1 400 Bad Request\r\n\r\n" },
};

async function start({ first = "", pours = "", isDeaf }: Hostile) {
  const counts = { accepted: 0, open: 0 };
  const server = createServer((socket: Socket) => {
    counts.accepted += 1;
    counts.open += 1;
    socket.on("error", () => undefined);
    socket.on("close", () => {
      counts.open -= 1;
    });
    if (!first.startsWith("HTTP/1.1")) socket.write(frame(SETTINGS, 0, 0), "latin1");
    let received = "";
    socket.on("data", (piece) => {
      const hadCall = received.includes(CALL);
      received += piece.toString("latin1");
      if (hadCall || !(received.includes(CALL) || first.startsWith("HTTP/1.1"))) return;
      if (isDeaf) socket.pause();
      if (first !== "") socket.write(first, "latin1");
      if (pours !== "") pour(socket, pours);
    });
  });
  const port = await listen(server);
  return { url: `grpc://127.0.0.1:${port}`, counts, [Symbol.dispose]: () => void server.close() };
}

describe("a gRPC server that sends", () => {
  test.each(Object.entries(servers))("%s: 200 attempts cost no more than a few", async (_, hostile) => {
    using server = await start(hostile);
    await using ebb = startEbb(["wait", "--sidecar", "none", "--wait-timeout", "5m", server.url]);
    await until("200 attempts", () => server.counts.accepted >= 200);
    expect(readdirSync(`/proc/${ebb.pid}/fd`).length).toBeLessThan(40);
    expect(memoryOf(ebb.pid, "VmRSS")).toBeLessThan(128 * MiB);
    ebb.kill("SIGTERM");
    expect((await ebb.ended).code).toBe(143);
    await until("all connections are closed", () => hostile.isDeaf === true || server.counts.open === 0);
  });
});

test("a server that stands still, and never closes a connection, costs no more", async () => {
  let accepted = 0;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    accepted += 1;
    socket.on("error", () => undefined);
  });
  const port = await listen(server);
  await using ebb = startEbb(["wait", "--sidecar", "none", "--wait-timeout", "5m", `grpc://127.0.0.1:${port}`]);
  await until("100 attempts", () => accepted >= 100);
  expect(readdirSync(`/proc/${ebb.pid}/fd`).length).toBeLessThan(40);
  server.close();
});
