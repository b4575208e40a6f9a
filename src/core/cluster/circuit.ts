import { type Backoff, backoffMs } from "./backoff.ts";

/**
 * The state of a circuit breaker. While it is closed, every request passes. After several failures in a row it opens,
 * and no request passes. After a rest it is half-open, and one request passes as a probe: if it succeeds the circuit
 * closes, if it fails the circuit opens for longer.
 */
export type Circuit =
  /** `failures` in a row. */
  | { readonly state: "closed"; readonly failures: number }
  /** `until` is in milliseconds; `opened` is how often it has opened since it was last closed. */
  | { readonly state: "open"; readonly until: number; readonly opened: number }
  | { readonly state: "half-open"; readonly opened: number };

export interface CircuitPolicy {
  /** How many failures in a row open the circuit. */
  readonly failures: number;
  /** How long it stays open. */
  readonly rest: Backoff;
}

/** The first state. */
export const closed: Circuit = { state: "closed", failures: 0 };

/**
 * The answer to whether a request may be sent now. If not, `waitMs` is how many milliseconds to wait before asking
 * again, or undefined to wait for the end of the probe that is under way.
 */
export type Admission = { readonly passes: true } | { readonly passes: false; readonly waitMs: number | undefined };

/**
 * Decides whether a request may be sent now, and returns the circuit's next state with that. `now` is in milliseconds
 * of the clock that `record` gets, too. If the circuit becomes half-open, this request is its probe.
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

/** The outcome of a request. */
export interface Outcome {
  readonly ok: boolean;
  /** Milliseconds of the clock that `admit` gets. */
  readonly now: number;
  /** A random number from 0 to 1, which varies the rest (`backoffMs`). */
  readonly chance: number;
}

/**
 * Returns the circuit after the outcome of a request that `admit` let pass. While the circuit is open, such a request
 * is from before it opened: its success closes the circuit, its failure changes nothing.
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
