import { Gauge, type Registry } from "prom-client";

/** Counts objects by their state. */
export interface Tally<S extends string> {
  /**
   * Sets the state of an object; undefined: it is gone, or not to be counted. Returns whether its state has changed.
   */
  put(uid: string, state: S | undefined): boolean;
}

/** The gauge of a tally; `label` is the name of its label, `states` are its values. */
interface About<S extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  readonly states: readonly S[];
}

/**
 * Registers a gauge that counts objects by state, also those states that no object is in. Each object has one state.
 */
export function createTally<S extends string>(registry: Registry, { name, help, label, states }: About<S>): Tally<S> {
  const known = new Map<string, S>();
  const counts = new Map<S, number>();
  const add = (state: S, count: number): void => void counts.set(state, (counts.get(state) ?? 0) + count);
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      for (const state of states) this.set({ [label]: state }, counts.get(state) ?? 0);
    },
  });
  return {
    put(uid, state) {
      const before = known.get(uid);
      if (before === state) return false;
      if (before !== undefined) add(before, -1);
      if (state === undefined) return known.delete(uid);
      known.set(uid, state);
      add(state, 1);
      return true;
    },
  };
}
