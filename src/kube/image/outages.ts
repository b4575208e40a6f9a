import type { LookupError } from "../../core/image/failure.ts";

/** How long after a registry did not answer it is asked again. */
const PROBE_MS = 30_000;

/** What time is, and what happens later: tests have their own. */
export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Calls a function later. */
  after(ms: number, call: () => void): void;
}

/** Registries that do not answer, by their origin (`https://quay.io`). */
export interface Outages {
  /** Returns why a registry is not asked; undefined if it may be. */
  of(origin: string): LookupError | undefined;
  /** Says that a registry does not answer. `probe` asks it again, and is called in 30 s, unless it has answered. */
  begin(origin: string, error: LookupError, probe: () => void): void;
  /** Says that a registry has answered. */
  end(origin: string): void;
}

/** Creates the memory of registries that do not answer. */
export function createOutages(clock: Pick<Clock, "after">): Outages {
  const errors = new Map<string, LookupError>();
  const probed = new Set<string>();
  return {
    of: (origin) => errors.get(origin),
    begin(origin, error, probe) {
      errors.set(origin, error);
      if (probed.has(origin)) return;
      probed.add(origin);
      clock.after(PROBE_MS, () => {
        probed.delete(origin);
        if (errors.has(origin)) probe();
      });
    },
    end: (origin) => void errors.delete(origin),
  };
}
