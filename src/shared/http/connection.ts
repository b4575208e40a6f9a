import type { Socket, SocketHandler } from "bun";
import { type Address, hostsToDial, nameIn } from "../core/address.ts";
import { describeSystemError, errorTexts } from "../core/system-error.ts";
import { latin1 } from "./latin1.ts";
import { lookUp } from "./name-watch.ts";
import { closedWithin, REFUSED, RequestFailed } from "./request-failed.ts";
import { tcpCheck } from "./tcp-check.ts";

/** Ends what a call has started: its `done` is not called any more. */
export type Cancel = () => void;
/** Called once, with the outcome or with why there is none. */
export type Done<T> = (outcome: T | RequestFailed) => void;

/** Counts the connections to one server. */
export interface ConnectionCounts {
  /** Those that are neither open nor refused, cancelled ones included: Bun cannot end them before. */
  opening: number;
  /** Those that `holdConnection` holds open. */
  held: number;
}

/** A connection, whose bytes go to `receive`, as latin1, and its end. */
export interface Connection {
  readonly socket: Socket<undefined>;
  receive: (text: string, isEnd: boolean) => void;
}

/** Connects. A host's name is looked up first. */
export function connect(
  address: Address,
  done: Done<Connection>,
  counts: ConnectionCounts = { opening: 0, held: 0 },
): Cancel {
  if (address.kind === "unix") return open({ unix: address.path }, done, counts);
  if (nameIn(address) === undefined) return connectToAny(address, done, counts);
  let cancel = lookUpHost(address, (outcome) => {
    if (outcome instanceof RequestFailed) done(outcome);
    else cancel = connectToAny(outcome, done, counts);
  });
  return () => cancel();
}

export type TcpAddress = Extract<Address, { kind: "tcp" }>;

/** Looks up the name that is the address's host. Calls `done` with the address and what the name was resolved to. */
export function lookUpHost(address: TcpAddress, done: Done<TcpAddress>): Cancel {
  let isOver = false;
  const end: Done<TcpAddress> = (outcome) => {
    if (!isOver) done(outcome);
  };
  lookUp(address.host).then((ips) => end({ ...address, ips }), end);
  return () => {
    isOver = true;
  };
}

/** How long an address has before the next one is tried beside it (RFC 8305, section 5). */
const HEAD_START_MS = 250;

/**
 * Connects to the first of a host's addresses that accepts. Tries the next one when all before it have failed, or after
 * 250 ms (`HEAD_START_MS`). If none accepts, fails as the first did; a refusal tells more than any other failure.
 */
function connectToAny(address: TcpAddress, done: Done<Connection>, counts: ConnectionCounts): Cancel {
  const { port } = address;
  const hosts = hostsToDial(address);
  const attempts: Cancel[] = [];
  let [next, underWay] = [0, 0];
  let failure: RequestFailed | undefined;
  let timer: Timer | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    for (const end of attempts) end();
  };
  const note = (failed: RequestFailed): void => {
    if (failure === undefined || failed.kind === "refused") failure = failed;
  };
  const tryNext = (): void => {
    clearTimeout(timer);
    for (let hostname = hosts[next]; hostname !== undefined; hostname = hosts[next]) {
      // a second loopback that refuses, or that this host does not have, needs no attempt
      const state = next === 0 ? "open" : tcpCheck(hostname, port);
      next += 1;
      if (state === "refused") note(new RequestFailed("refused", REFUSED));
      if (state !== "open" && state !== "silent") continue;
      underWay += 1;
      if (next < hosts.length) timer = setTimeout(tryNext, HEAD_START_MS);
      attempts.push(open({ hostname, port }, take, counts));
      return;
    }
  };
  const take = (outcome: Connection | RequestFailed): void => {
    if (outcome instanceof RequestFailed) {
      underWay -= 1;
      note(outcome);
      tryNext();
      if (underWay === 0 && failure !== undefined) done(failure);
    } else {
      cancel();
      done(outcome);
    }
  };
  tryNext();
  return cancel;
}

type Where = { readonly unix: string } | { readonly hostname: string; readonly port: number };

function open(where: Where, done: Done<Connection>, counts: ConnectionCounts): Cancel {
  let connection: Connection | undefined;
  let isOver = false;
  let isOpening = true;
  counts.opening += 1;
  const endOpening = (): void => {
    if (isOpening) counts.opening -= 1;
    isOpening = false;
  };
  const fail = (error: unknown): void => {
    endOpening();
    if (!isOver) done(connectFailure(error));
    isOver = true;
  };
  const onEnd = () => connection?.receive("", true);
  const socket: SocketHandler<undefined> = {
    open(socket) {
      endOpening();
      if (isOver) return void socket.terminate();
      isOver = true;
      connection = { socket, receive: () => undefined };
      done(connection);
    },
    binaryType: "uint8array",
    data: (_, bytes) => connection?.receive(latin1(bytes), false),
    end: onEnd,
    close: onEnd,
    error: onEnd,
    connectError: (_, error) => fail(error),
  };
  const connecting = "unix" in where ? Bun.connect({ ...where, socket }) : Bun.connect({ ...where, socket });
  connecting.catch(fail);
  return () => {
    isOver = true;
  };
}

export function connectFailure(error: unknown): RequestFailed {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED" || code === "ENOENT") return new RequestFailed("refused", REFUSED);
  if (code === "EPIPE") return new RequestFailed("broken", errorTexts.ECONNRESET);
  return new RequestFailed("unreachable", describeSystemError(error));
}

interface ConnectionHold {
  /** For how long the connection must stay open, in ms. 0: it need only be accepted. */
  readonly forMs: number;
  readonly counts: ConnectionCounts;
}

/**
 * Opens a connection, and closes it after `forMs`. Calls `done` with undefined if it was accepted and still open then,
 * or with the reason why not.
 */
export function holdConnection(address: Address, { forMs, counts }: ConnectionHold, done: Done<undefined>): Cancel {
  const hold = (connection: Connection | RequestFailed): void => {
    if (connection instanceof RequestFailed) return done(connection);
    counts.held += 1;
    cancel = () => {
      clearTimeout(timer);
      connection.receive = () => undefined;
      counts.held -= 1;
      connection.socket.end();
    };
    const end = (outcome: undefined | RequestFailed): void => {
      cancel();
      done(outcome);
    };
    connection.receive = (_, isEnd) => {
      if (isEnd) end(new RequestFailed("broken", closedWithin(forMs)));
    };
    const timer = forMs === 0 ? undefined : setTimeout(() => end(undefined), forMs);
    if (forMs === 0) end(undefined);
  };
  let cancel = connect(address, hold, counts);
  return () => cancel();
}

/**
 * Resolves once a connection is accepted. Rejects with RequestFailed if it is not, or with the signal's reason.
 */
export function tryConnect(address: Address, signal: AbortSignal): Promise<undefined> {
  const hold = { forMs: 0, counts: { opening: 0, held: 0 } };
  return promised(signal, (done) => holdConnection(address, hold, done));
}

/** Resolves as `done` is called. Rejects with RequestFailed, or with the signal's reason if that is aborted. */
export function promised<T>(signal: AbortSignal, start: (done: Done<T>) => Cancel): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onAbort = () => {
    cancel();
    reject(signal.reason);
  };
  const cancel = start((outcome) => {
    signal.removeEventListener("abort", onAbort);
    if (outcome instanceof RequestFailed) reject(outcome);
    else resolve(outcome);
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return promise;
}
