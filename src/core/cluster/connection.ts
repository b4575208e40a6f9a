/** What a server waits for: the TLS handshake, the next request, all of one, that its answer is taken, the close. */
export type Phase = "handshake" | "idle" | "receiving" | "answering" | "closing";

/** Why a connection was closed that its client would have kept. */
export type Cut = "handshake" | "idle" | "request" | "answer" | "limit";

export const cuts: readonly Cut[] = ["handshake", "idle", "request", "answer", "limit"];

/** Closing was counted when it began. */
export const cutBy = { handshake: "handshake", idle: "idle", answering: "answer", closing: undefined } as const;

export interface Waiting {
  readonly phase: Phase;
  /** When the phase has to be over. */
  readonly until: number;
}

const order: readonly Phase[] = ["idle", "closing", "receiving", "answering"];

/**
 * Returns the connection to close where there is one too many: the one idle for longest, else the one whose request has been
 * arriving for longest. The API server's arrive within milliseconds.
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
