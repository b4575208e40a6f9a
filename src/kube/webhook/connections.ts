import type { ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { type Cut, connectionToClose, cutBy, type Phase } from "../../core/cluster/connection.ts";

interface Connection {
  phase: Phase;
  /** When the phase has to be over, of performance.now(). */
  until: number;
  response: ServerResponse | undefined;
}

export interface ConnectionLimits {
  /** How long a handshake may take, a request to arrive, and its answer to be taken. */
  readonly requestMs: number;
  /** How many may be open, and how many of these in their handshake; then the one that is missed least closes. */
  readonly most: number;
  readonly mostHandshakes: number;
}

export interface ConnectionHandlers {
  /** Answers a request that did not arrive in time, if its head did. */
  readonly onSlow: (socket: TLSSocket, response: ServerResponse | undefined) => void;
  readonly onCut: (why: Cut) => void;
}

/** Go's clients close what was idle for 90 s (net/http's DefaultTransport): being later leaves no request lost between. */
const IDLE_MS = 120_000;
const SWEEP_MS = 500;

/** What keeps slow and idle clients from holding anything for long. */
export interface Connections {
  readonly size: number;
  /** TCP is there, TLS is not yet. */
  add(socket: TLSSocket): void;
  /** TLS is there, too. */
  secured(socket: TLSSocket): void;
  /** A request's head is here. Call the result when all of it is. */
  receiving(socket: TLSSocket, response: ServerResponse): () => void;
  /** Closes those that wait for a next request; nobody is to wait for long any more. */
  closeIdle(): void;
  closeAll(): void;
}

/** Watches the webhook's TCP connections: cuts what takes too long, and above a limit the least important. */
export function watchConnections(limits: ConnectionLimits, { onSlow, onCut }: ConnectionHandlers): Connections {
  const { requestMs, most, mostHandshakes } = limits;
  const { handshakes, secure, idleFor, enter, end, forget } = createTable(requestMs, onCut);
  let now = 0;
  let next = performance.now();
  const sweep = (): void => {
    [now, next] = [next, performance.now()]; // the time of the last one: what came while ebb was busy is read before it is judged
    for (const [socket, { until }] of handshakes) if (now >= until) end(socket, "handshake");
    for (const [socket, { phase, until, response }] of secure) {
      if (now < until) continue;
      if (phase === "receiving") {
        enter(socket, "closing");
        onCut("request");
        onSlow(socket, response);
      } else end(socket, cutBy[phase]);
    }
  };
  const timer = setInterval(sweep, Math.min(SWEEP_MS, requestMs / 4));
  timer.unref();
  return {
    get size() {
      return secure.size + handshakes.size;
    },
    add(socket) {
      handshakes.set(socket, { phase: "handshake", until: performance.now() + requestMs, response: undefined });
      socket.once("close", () => forget(socket));
      const [oldest] = handshakes.keys();
      if (handshakes.size > mostHandshakes) end(oldest as TLSSocket, "limit");
      else if (secure.size + handshakes.size > most) end(connectionToClose(secure) ?? socket, "limit");
    },
    secured(socket) {
      if (!handshakes.delete(socket)) return; // it was closed meanwhile
      secure.set(socket, { phase: "idle", until: 0, response: undefined });
      enter(socket, "idle");
      socket.on("data", () => {
        if (secure.get(socket)?.phase === "idle") enter(socket, "receiving");
      });
    },
    receiving(socket, response) {
      enter(socket, "receiving", response);
      response.once("close", () => {
        // an early answer is not the request's end
        if (secure.get(socket)?.phase === "answering") enter(socket, "idle");
      });
      return () => enter(socket, response.writableFinished ? "idle" : "answering", response);
    },
    closeIdle() {
      idleFor(requestMs); // those that were not open yet
      for (const [socket, { phase }] of secure) if (phase === "idle") socket.end();
    },
    closeAll() {
      clearInterval(timer);
      for (const socket of [...secure.keys(), ...handshakes.keys()]) socket.destroy();
    },
  };
}

/** Creates the table of open connections, oldest first; those still in their TLS handshake are apart. */
function createTable(requestMs: number, onCut: ConnectionHandlers["onCut"]) {
  const secure = new Map<TLSSocket, Connection>();
  const handshakes = new Map<TLSSocket, Connection>();
  let idleMs = IDLE_MS;
  const forget = (socket: TLSSocket): void => {
    secure.delete(socket);
    handshakes.delete(socket);
  };
  return {
    secure,
    handshakes,
    forget,
    idleFor(ms: number): void {
      idleMs = ms;
    },
    enter(socket: TLSSocket, phase: Phase, response?: ServerResponse): void {
      const connection = secure.get(socket);
      if (connection === undefined || connection.phase === "closing") return;
      const isNew = phase !== "receiving" || connection.phase !== "receiving";
      if (isNew) connection.until = performance.now() + (phase === "idle" ? idleMs : requestMs);
      connection.phase = phase;
      connection.response = response;
    },
    end(socket: TLSSocket, why: Cut | undefined): void {
      forget(socket); // at once, lest the next one chooses it too
      if (why !== undefined) onCut(why);
      socket.destroy();
    },
  };
}
