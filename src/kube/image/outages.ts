import type { LookupError } from "../../core/image/failure.ts";
import type { Outages } from "./reader.ts";

/** How long after a registry did not answer it is asked again. */
const PROBE_MS = 30_000;

/** What time is, and what happens later: tests have their own. */
export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Calls a function later. */
  after(ms: number, call: () => void): void;
}

/** The memory of registries that do not answer. */
export interface OutageMemory {
  /** Returns why a registry is not asked; undefined if it may be. */
  of(origin: string): LookupError | undefined;
  /**
   * Returns the memory for a look-up. If a registry does not answer it, `probe` is called in 30 s, unless it has answered
   * others by then. With `isProbe` the look-up asks all the same.
   */
  forLookup(probe: () => void, isProbe: boolean): Outages;
}

/** Creates an empty memory of registries that do not answer. */
export function createOutages(clock: Pick<Clock, "after">): OutageMemory {
  const errors = new Map<string, LookupError>();
  const probed = new Set<string>();
  const of = (origin: string) => errors.get(origin);
  return {
    of,
    forLookup: (probe, isProbe) => ({
      of: isProbe ? () => undefined : of,
      begin(origin, error) {
        errors.set(origin, error);
        if (probed.has(origin)) return;
        probed.add(origin);
        clock.after(PROBE_MS, () => {
          probed.delete(origin);
          if (errors.has(origin)) probe();
        });
      },
      end: (origin) => void errors.delete(origin),
    }),
  };
}
