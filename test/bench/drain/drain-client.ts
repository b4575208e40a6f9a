import { type Agent, get } from "node:http";
import type { App } from "./drain-app.ts";

/** A request or connection in flight; its start and end in milliseconds since the drain began. */
export interface InFlight {
  /** The number of its client. */
  readonly client: number;
  readonly kind: "request" | "websocket" | "idle";
  readonly start: number;
  readonly end: number;
  /** Why it was lost; undefined if it ended as it should. */
  readonly lost: string | undefined;
}

/** What clients do while an Envoy is drained. */
export interface Work {
  /** Notes that the drain begins, at the zero of all times. */
  begin(): void;
  /** Resolves with all that was in flight after the zero, once it has ended. */
  done(): Promise<readonly InFlight[]>;
}

/**
 * The time from the drain's begin until the pod's address leaves the endpoints: kube-proxy takes that long and longer.
 */
export const DEREGISTERED_MS = 2000;
/** The pause of a client that has lost a request, and between the requests of a client that calls now and then. */
export const PAUSE_MS = 200;

/** The URL that clients call, of an Envoy before an app. */
export interface Place {
  readonly url: string;
  readonly app: App;
}

/** A clock whose zero is when it begins. */
interface Clock {
  begin(): void;
  /** Returns the milliseconds since it began; -Infinity before. */
  ms(): number;
}

/** Creates a clock that has not begun. */
export function startClock(): Clock {
  let zero = Number.POSITIVE_INFINITY;
  return {
    begin() {
      zero = performance.now();
    },
    ms: () => performance.now() - zero,
  };
}

/** Sends a GET, and resolves with its start, its end, and why it was lost. Never rejects. */
export async function ask(url: string, agent: Agent, clock: Clock): Promise<Pick<InFlight, "start" | "end" | "lost">> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const start = clock.ms();
  const asked = get(url, { agent }, (response) => {
    response.resume();
    response.on("end", () => resolve(response.statusCode === 200 ? undefined : `HTTP ${response.statusCode}`));
    response.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  const lost = await promise;
  return { start: Math.max(0, start), end: clock.ms(), lost };
}
