import type { ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";

// node:https would keep these limits, all but that of a handshake. But Bun 1.4.5's https.createServer has no
// setSecureContext and calls no SNICallback, and a second listener with reusePort gets EADDRINUSE, so that no other
// certificate could be served; and a handshake that never comes stays open. tls.createServer, whose sockets http serves
// by emit("connection"), keeps none of http's limits. A Bun with setSecureContext and that limit makes this file needless.

/** Why the webhook closed a connection: what took too long on it, or that there were too many connections. */
export type Cut = (typeof cuts)[number];
export const cuts = ["handshake", "idle", "request", "answer", "limit"] as const;

/** The most open connections: API servers have some tens. */
const MOST_CONNECTIONS = 1000;
/** With more of them on which no whole request came, they are the first to be closed, so that they close no others. */
const MOST_UNUSED = 250;
/**
 * Go's clients close a connection after 90 s without a request (net/http's DefaultTransport). Closing it later than
 * they do loses no request.
 */
const IDLE_MS = 120_000;
/** Late timers fire before sockets are read: bytes that are here get this long. */
const GRACE_MS = 100;

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

/** The open connections. */
export interface Connections {
  /** How many connections are open. */
  readonly size: number;
  /** Takes a connection whose TLS handshake begins. */
  add(socket: TLSSocket): void;
  /** Takes note that its TLS handshake is over. */
  secured(socket: TLSSocket): void;
  /** Takes note that a request's head has arrived. Call the result when all of the request has. */
  receiving(socket: TLSSocket, response: ServerResponse): () => void;
  /** From now on, a connection waits at most `requestMs` for a next request. */
  shortenIdle(): void;
}

/** What a connection waits for: its handshake, a request, the rest of one, that its answer is read, or its end. */
interface Connection {
  phase: "handshake" | "idle" | "receiving" | "answering" | "closing";
  /** Ends the connection if its phase takes too long. */
  timer?: NodeJS.Timeout;
  response?: ServerResponse;
}

/**
 * Limits connections in number and time. Above 1,000 it closes the oldest one without a request if these are more than
 * 250, otherwise the one whose last request is longest ago. `requestMs` is the limit of a TLS handshake, of a request
 * from its first byte to its last, and of reading an answer.
 */
export function limitConnections(requestMs: number, { onSlow, onCut }: ConnectionHandlers): Connections {
  const open = createTable();
  let idleMs = IDLE_MS;
  const forget = (socket: TLSSocket): void => {
    close(open.find(socket));
    open.remove(socket);
  };
  const cut = (socket: TLSSocket, why: Cut): void => {
    forget(socket); // now, so that it is not chosen twice
    onCut(why);
    socket.destroy();
  };
  const idle = (socket: TLSSocket, connection: Connection): void =>
    enter(connection, "idle", idleMs, () => cut(socket, "idle"));
  const receive = (socket: TLSSocket, connection: Connection): void =>
    enter(connection, "receiving", requestMs, () => {
      enter(connection, "closing", requestMs, () => socket.destroy());
      onCut("request");
      onSlow(socket, connection.response);
    });
  return {
    get size() {
      return open.size();
    },
    add(socket) {
      const connection: Connection = { phase: "handshake" };
      open.add(socket, connection);
      enter(connection, "handshake", requestMs, () => cut(socket, "handshake"));
      socket.once("close", () => forget(socket));
      if (open.size() > MOST_CONNECTIONS) cut(open.first() as TLSSocket, "limit");
    },
    secured(socket) {
      const connection = open.find(socket);
      if (connection === undefined) return; // it was closed meanwhile
      idle(socket, connection);
      socket.on("data", () => {
        if (connection.phase === "idle") receive(socket, connection);
      });
    },
    receiving(socket, response) {
      const connection = open.find(socket);
      if (connection === undefined) return () => undefined;
      if (connection.phase !== "receiving") receive(socket, connection); // it came with the one before
      connection.response = response;
      response.once("close", () => {
        if (connection.phase === "answering") idle(socket, connection); // an early answer is not the request's end
      });
      return () => {
        if (connection.phase === "closing") return;
        delete connection.response;
        open.use(socket, connection);
        if (response.writableFinished) idle(socket, connection);
        else enterAnswering(connection, { response, ms: requestMs, late: () => cut(socket, "answer") });
      };
    },
    shortenIdle() {
      idleMs = requestMs;
    },
  };
}

/** Creates the table of open connections. */
function createTable() {
  /** Those on which no whole request came, the oldest first. */
  const unused = new Map<TLSSocket, Connection>();
  /** The others; the one whose last request is longest ago is the first. */
  const used = new Map<TLSSocket, Connection>();
  const remove = (socket: TLSSocket): void => {
    unused.delete(socket);
    used.delete(socket);
  };
  return {
    size: () => unused.size + used.size,
    find: (socket: TLSSocket) => used.get(socket) ?? unused.get(socket),
    add: (socket: TLSSocket, connection: Connection) => void unused.set(socket, connection),
    /** Takes note that a whole request came. */
    use(socket: TLSSocket, connection: Connection): void {
      remove(socket);
      used.set(socket, connection);
    },
    remove,
    /** Returns the connection to close if there are too many. */
    first: () => (unused.size > MOST_UNUSED ? unused : used).keys().next().value,
  };
}

/** Begins a phase, unless the connection is closing. Calls `late` if the phase takes longer than `ms`. */
function enter(connection: Connection, phase: Connection["phase"], ms: number, late: () => void): void {
  if (connection.phase === "closing") return;
  clearTimeout(connection.timer);
  connection.phase = phase;
  connection.timer = setTimeout(() => {
    connection.timer = setTimeout(late, GRACE_MS);
  }, ms);
}

/** An answer, how long its client may take to read it, and what to call then. */
interface Answering {
  readonly response: ServerResponse;
  readonly ms: number;
  readonly late: () => void;
}

/** Begins to wait for a client to read its answer, which most get at once; ebb itself may wait for a registry first. */
function enterAnswering(connection: Connection, answering: Answering, wasAnswered = true): void {
  const { response, ms, late } = answering;
  enter(connection, "answering", ms, () => {
    if (wasAnswered && response.headersSent) late();
    else enterAnswering(connection, answering, response.headersSent);
  });
}

function close(connection: Connection | undefined): void {
  if (connection === undefined) return;
  clearTimeout(connection.timer);
  connection.phase = "closing";
}
