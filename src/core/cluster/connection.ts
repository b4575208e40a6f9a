/**
 * The phase of a server's connection, by what the server waits for: the end of the TLS handshake, the next request, the
 * rest of a request, that the client reads the answer, or that the connection closes.
 */
export type Phase = "handshake" | "idle" | "receiving" | "answering" | "closing";

/**
 * The reason why the server closed a connection: the phase that took too long, or that there were too many connections.
 */
export type Cut = "handshake" | "idle" | "request" | "answer" | "limit";

export const cuts: readonly Cut[] = ["handshake", "idle", "request", "answer", "limit"];

/**
 * The reason to count if a phase takes too long. `closing` has none: the connection was counted when it began to close.
 */
export const cutBy = { handshake: "handshake", idle: "idle", answering: "answer", closing: undefined } as const;

/** What the server waits for on a connection. */
export interface Waiting {
  readonly phase: Phase;
  /** When the phase has to be over, in milliseconds of one clock. */
  readonly until: number;
}

/** The first phase is that of the connections to close first. */
const order: readonly Phase[] = ["idle", "closing", "receiving", "answering"];

/**
 * Returns the connection to close if there are too many: the one that has been idle longest. If none is idle, it is one
 * that is closing, then the one whose request has been arriving longest, then the one whose answer has been read
 * longest. That spares the API server, whose requests arrive within milliseconds. Returns undefined if there are no
 * connections.
 */
export function connectionToClose<C>(connections: Iterable<readonly [C, Waiting]>): C | undefined {
  let found: readonly [C, Waiting] | undefined;
  for (const entry of connections) if (found === undefined || isMissedLess(entry[1], found[1])) found = entry;
  return found?.[0];
}

function isMissedLess(a: Waiting, b: Waiting): boolean {
  const difference = order.indexOf(a.phase) - order.indexOf(b.phase);
  return difference < 0 || (difference === 0 && a.until < b.until);
}
