import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { type Connections, limitConnections } from "../../../../src/cluster/webhook/connections.ts";

const REQUEST_MS = 5000;
const IDLE_MS = 120_000;
/** For what came while the process was busy. */
const GRACE_MS = 100;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** What happened, in order: `cut REASON`, `slow`, `slow, begun` (its head is here), `closed`. */
type Told = string[];

class Socket extends EventEmitter {
  destroyed = false;

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit("close");
  }
}

function limited() {
  const told: Told = [];
  const connections = limitConnections(REQUEST_MS, {
    onSlow: (_, response) => void told.push(response === undefined ? "slow" : "slow, begun"),
    onCut: (why) => void told.push(`cut ${why}`),
  });
  return { connections, told };
}

function open(connections: Connections): Socket & TLSSocket {
  const socket = new Socket() as Socket & TLSSocket;
  connections.add(socket);
  return socket;
}

/** Receives the head of a request. */
function begin(connections: Connections, socket: Socket & TLSSocket) {
  socket.emit("data");
  const response = Object.assign(new EventEmitter(), { writableFinished: false, headersSent: true });
  const end = connections.receiving(socket, response as unknown as ServerResponse);
  const finish = (): void => {
    response.writableFinished = true;
    response.emit("close");
  };
  return { end, finish, response };
}

type Life = (connections: Connections, socket: Socket & TLSSocket) => void;

const secured: Life = (connections, socket) => connections.secured(socket);
const asked: Life = (connections, socket) => {
  secured(connections, socket);
  const { end, finish } = begin(connections, socket);
  end();
  finish();
};

test.each<[string, Life, number, Told]>([
  ["a handshake", () => undefined, REQUEST_MS, ["cut handshake", "closed"]],
  ["the first request", secured, IDLE_MS, ["cut idle", "closed"]],
  ["the next request", asked, IDLE_MS, ["cut idle", "closed"]],
  [
    "the rest of a head",
    (connections, socket) => {
      secured(connections, socket);
      socket.emit("data");
    },
    REQUEST_MS,
    ["cut request", "slow"],
  ],
  [
    "the rest of a head after another request",
    (connections, socket) => {
      asked(connections, socket);
      socket.emit("data");
    },
    REQUEST_MS,
    ["cut request", "slow"],
  ],
  [
    "the rest of a body",
    (connections, socket) => {
      secured(connections, socket);
      begin(connections, socket);
    },
    REQUEST_MS,
    ["cut request", "slow, begun"],
  ],
  [
    "the rest of a body that was answered early",
    (connections, socket) => {
      secured(connections, socket);
      begin(connections, socket).finish();
    },
    REQUEST_MS,
    ["cut request", "slow, begun"],
  ],
  [
    "a client that reads its answer",
    (connections, socket) => {
      secured(connections, socket);
      begin(connections, socket).end();
    },
    REQUEST_MS,
    ["cut answer", "closed"],
  ],
])("the wait for %s has an end", (_, life, ms, expected) => {
  const { connections, told } = limited();
  const socket = open(connections);
  socket.once("close", () => told.push("closed"));
  life(connections, socket);
  jest.advanceTimersByTime(ms - 1);
  expect(told).toEqual([]);
  jest.advanceTimersByTime(1 + GRACE_MS);
  expect(told).toEqual(expected);
  jest.advanceTimersByTime(REQUEST_MS + GRACE_MS);
  expect([socket.destroyed, connections.size]).toEqual([true, 0]);
});

test("a client has all of its time to read an answer that came late", () => {
  const { connections, told } = limited();
  const socket = open(connections);
  secured(connections, socket);
  const { end, response } = begin(connections, socket);
  response.headersSent = false;
  end();
  jest.advanceTimersByTime(2 * REQUEST_MS);
  response.headersSent = true;
  jest.advanceTimersByTime(REQUEST_MS);
  expect(told).toEqual([]);
  jest.advanceTimersByTime(2 * REQUEST_MS);
  expect(told).toEqual(["cut answer"]);
});

test("bytes that drip do not prolong a request", () => {
  const { connections, told } = limited();
  const socket = open(connections);
  secured(connections, socket);
  for (let ms = 0; ms < REQUEST_MS; ms += 1000) {
    socket.emit("data");
    jest.advanceTimersByTime(1000);
  }
  jest.advanceTimersByTime(GRACE_MS);
  expect(told).toEqual(["cut request", "slow"]);
});

test("a request that came while the process was busy is not late", () => {
  const { connections, told } = limited();
  const socket = open(connections);
  secured(connections, socket);
  socket.emit("data");
  jest.advanceTimersByTime(REQUEST_MS); // the timer fires before the socket is read
  const { end, finish } = begin(connections, socket);
  end();
  finish();
  jest.advanceTimersByTime(REQUEST_MS);
  expect(told).toEqual([]);
});

test.each<[string, number, number]>([
  ["the oldest without a request, if these are more than 250", 251, 750],
  ["the one whose last request is longest ago, if they are fewer", 249, 0],
])("of 1,001 connections one closes: %s", (_, unused, closed) => {
  const { connections, told } = limited();
  const sockets: Socket[] = [];
  for (let count = 1; count <= 1001; count += 1) {
    const socket = open(connections);
    sockets.push(socket);
    if (count <= 1001 - unused) asked(connections, socket);
  }
  expect(told).toEqual(["cut limit"]);
  expect(connections.size).toBe(1000);
  expect(sockets.findIndex(({ destroyed }) => destroyed)).toBe(closed);
});
