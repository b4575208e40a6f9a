import type { ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";

/** What is waited for: the next request, all of one, or that its answer is taken. */
type Phase = "idle" | "receiving" | "answering";

interface Connection {
  phase: Phase;
  /** When the phase has to be over, of performance.now(). */
  until: number;
  response: ServerResponse | undefined;
}

export interface ConnectionLimits {
  /** How long a request may take to arrive, and its answer to be taken. */
  readonly requestMs: number;
  /** How many may be open; of more the one that has been idle longest goes. */
  readonly most: number;
}

/** Go's clients close what was idle for 90 s (net/http's DefaultTransport): being later leaves no request lost between. */
const IDLE_MS = 120_000;
const SWEEP_MS = 500;

/** What keeps slow and idle clients from holding anything for long. */
export interface Connections {
  readonly size: number;
  add(socket: TLSSocket): void;
  /** A request's head is here. Call the result when all of it is. */
  receiving(socket: TLSSocket, response: ServerResponse): () => void;
  /** Closes those that wait for a next request; nobody is to wait for long any more. */
  closeIdle(): void;
  closeAll(): void;
}

/** @param onSlow answers a request that did not arrive in time, if its head did */
export function watchConnections(
  { requestMs, most }: ConnectionLimits,
  onSlow: (socket: TLSSocket, response: ServerResponse | undefined) => void,
): Connections {
  const connections = new Map<TLSSocket, Connection>();
  let idleMs = IDLE_MS;
  const enter = (socket: TLSSocket, phase: Phase, response?: ServerResponse): void => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    const isNew = phase !== "receiving" || connection.phase !== "receiving";
    if (isNew) connection.until = performance.now() + (phase === "idle" ? idleMs : requestMs);
    connection.phase = phase;
    connection.response = response;
  };
  const end = (socket: TLSSocket): void => {
    connections.delete(socket); // at once, lest the next one chooses it too
    socket.destroy();
  };
  const sweep = (): void => {
    const now = performance.now();
    for (const [socket, { phase, until, response }] of connections) {
      if (now < until) continue;
      if (phase === "receiving") onSlow(socket, response);
      else end(socket);
    }
  };
  const timer = setInterval(sweep, Math.min(SWEEP_MS, requestMs / 4));
  timer.unref();
  return {
    get size() {
      return connections.size;
    },
    add(socket) {
      connections.set(socket, { phase: "idle", until: performance.now() + idleMs, response: undefined });
      socket.once("close", () => connections.delete(socket));
      socket.on("data", () => {
        if (connections.get(socket)?.phase === "idle") enter(socket, "receiving");
      });
      if (connections.size > most) end(longestIdle(connections) ?? socket);
    },
    receiving(socket, response) {
      enter(socket, "receiving", response);
      response.once("close", () => {
        // an early answer is not the request's end
        if (connections.get(socket)?.phase === "answering") enter(socket, "idle");
      });
      return () => enter(socket, response.writableFinished ? "idle" : "answering", response);
    },
    closeIdle() {
      idleMs = requestMs; // of those that were not open yet
      for (const [socket, { phase }] of connections) if (phase === "idle") socket.end();
    },
    closeAll() {
      clearInterval(timer);
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}

function longestIdle(connections: ReadonlyMap<TLSSocket, Connection>): TLSSocket | undefined {
  let found: TLSSocket | undefined;
  let earliest = Number.POSITIVE_INFINITY;
  for (const [socket, { phase, until }] of connections) {
    if (phase !== "idle" || until >= earliest) continue;
    found = socket;
    earliest = until;
  }
  return found;
}
