import type { ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { type Cut, connectionToClose, cutBy, type Phase } from "../../core/cluster/connection.ts";

/** A connection, and what is waited for on it. */
interface Connection {
  phase: Phase;
  /** When the phase has to be over, by performance.now(). */
  until: number;
  response: ServerResponse | undefined;
}

/** Limits of time and number. */
export interface ConnectionLimits {
  /** Milliseconds for a TLS handshake, for a request to arrive, and for its answer to be taken, each. */
  readonly requestMs: number;
  /** The most open connections. If there is one more, the least important one is closed. */
  readonly most: number;
  /** The most of these in their TLS handshake. If there is one more, the oldest of them is closed. */
  readonly mostHandshakes: number;
}

/** What is told about connections. */
export interface ConnectionHandlers {
  /**
   * Called if a request did not arrive in time, to answer it and close its connection. `response` is undefined if not
   * even its head arrived.
   */
  readonly onSlow: (socket: TLSSocket, response: ServerResponse | undefined) => void;
  /** Called at each connection that is closed for a limit. */
  readonly onCut: (why: Cut) => void;
}

/**
 * Go's clients close a connection after 90 s without a request (net/http's DefaultTransport). Closing it later than
 * they do loses no request.
 */
const IDLE_MS = 120_000;
const SWEEP_MS = 500;

/** The open connections; limits keep slow and idle clients from holding anything for long. */
export interface Connections {
  /** How many connections are open. */
  readonly size: number;
  /** Takes a connection whose TLS handshake begins. */
  add(socket: TLSSocket): void;
  /** Takes note that its TLS handshake is over. */
  secured(socket: TLSSocket): void;
  /** Takes note that a request's head has arrived. Call the result when all of the request has. */
  receiving(socket: TLSSocket, response: ServerResponse): () => void;
  /** Closes the connections that wait for a next request. Those that stay wait at most `requestMs` for one. */
  closeIdle(): void;
  /** Destroys all connections, and ends the timer. */
  closeAll(): void;
}

/**
 * Starts to limit the webhook's connections, until `closeAll`: closes those that take too long, and above a number the
 * least important one. A timer of its own judges them every 0.5 s, or each quarter of a shorter `requestMs`.
 */
export function watchConnections(limits: ConnectionLimits, { onSlow, onCut }: ConnectionHandlers): Connections {
  const { requestMs, most, mostHandshakes } = limits;
  const { handshakes, secure, idleFor, enter, end, forget } = createTable(requestMs, onCut);
  let now = 0;
  let next = performance.now();
  const sweep = (): void => {
    [now, next] = [next, performance.now()]; // of the last sweep: what came while ebb was busy is read first
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
      idleFor(requestMs); // for those that are idle from now on
      for (const [socket, { phase }] of secure) if (phase === "idle") socket.end();
    },
    closeAll() {
      clearInterval(timer);
      for (const socket of [...secure.keys(), ...handshakes.keys()]) socket.destroy();
    },
  };
}

/** Creates the table of open connections, oldest first. Those in their TLS handshake are apart. */
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
      forget(socket); // now, so that it is not chosen twice
      if (why !== undefined) onCut(why);
      socket.destroy();
    },
  };
}
