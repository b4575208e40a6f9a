import { type Agent, get } from "node:http";
import type { App } from "./drain-app.ts";

/** Something in flight: its life in milliseconds since the drain began. */
export interface InFlight {
  readonly client: number;
  readonly kind: "request" | "websocket" | "idle";
  readonly start: number;
  readonly end: number;
  /** Why it was lost; undefined: it ended as it should. */
  readonly lost: string | undefined;
}

/** What clients do while an Envoy is drained. */
export interface Work {
  /** The drain begins: the zero of all times. */
  begin(): void;
  /** Resolves with all that was in flight after the zero, once it has ended. */
  done(): Promise<readonly InFlight[]>;
}

/** A pod's address leaves its endpoints so long after the drain begins: kube-proxy takes that long and longer. */
export const DEREGISTERED_MS = 2000;
/** A client that has lost a request waits so long; one that calls now and then, always. */
export const PAUSE_MS = 200;

/** Where clients call. */
export interface Place {
  readonly url: string;
  readonly app: App;
}

/** What tells times. */
export interface Clock {
  begin(): void;
  /** Since it began; less than 0 before. */
  ms(): number;
}

export function startClock(): Clock {
  let zero = Number.POSITIVE_INFINITY;
  return {
    begin() {
      zero = performance.now();
    },
    ms: () => performance.now() - zero,
  };
}

/** One request, and what became of it. */
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
