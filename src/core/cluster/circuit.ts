import { type Backoff, backoffMs } from "./backoff.ts";

/**
 * A circuit breaker, as pure steps: closed, everything passes; after so many failures in a row open, nothing does; after a
 * rest half-open, one may try: its success closes the circuit, its failure opens it for longer.
 */
export type Circuit =
  | { readonly state: "closed"; readonly failures: number }
  /** `opened`: how often since it was last closed. */
  | { readonly state: "open"; readonly until: number; readonly opened: number }
  | { readonly state: "half-open"; readonly opened: number };

export interface CircuitPolicy {
  readonly failures: number;
  readonly rest: Backoff;
}

export const closed: Circuit = { state: "closed", failures: 0 };

/** Whether one may pass now, or how many milliseconds to wait before asking again; undefined: until the one who tries is back. */
export type Admission = { readonly passes: true } | { readonly passes: false; readonly waitMs: number | undefined };

/**
 * Whether a request may be sent now, and the breaker's next state. `waitMs`: until the next try; undefined: until the probe under
 * way has ended.
 */
export function admit(circuit: Circuit, now: number): readonly [Circuit, Admission] {
  switch (circuit.state) {
    case "closed":
      return [circuit, { passes: true }];
    case "half-open":
      return [circuit, { passes: false, waitMs: undefined }];
    case "open":
      if (now < circuit.until) return [circuit, { passes: false, waitMs: circuit.until - now }];
      return [{ state: "half-open", opened: circuit.opened }, { passes: true }];
  }
}

export interface Outcome {
  readonly ok: boolean;
  readonly now: number;
  /** From 0 to 1: how long it rests. */
  readonly chance: number;
}

/**
 * Returns the circuit after a request that was let through succeeded or failed. Of requests from before it opened, only a success
 * counts.
 */
export function record(circuit: Circuit, { failures, rest }: CircuitPolicy, { ok, now, chance }: Outcome): Circuit {
  if (ok) return closed;
  const open = (opened: number): Circuit => ({
    state: "open",
    until: now + backoffMs(opened - 1, rest, chance),
    opened,
  });
  switch (circuit.state) {
    case "closed":
      return circuit.failures + 1 < failures ? { state: "closed", failures: circuit.failures + 1 } : open(1);
    case "half-open":
      return open(circuit.opened + 1);
    case "open":
      return circuit;
  }
}
