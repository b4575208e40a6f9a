/** A map that forgets what was not used for longest once its entries weigh more than `most`. */
export interface Lru<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Creates an empty map. `weightOf`: what an entry counts; by default each counts 1. */
export function createLru<V>(most: number, weightOf: (value: V) => number = () => 1): Lru<V> {
  const entries = new Map<string, V>(); // in the order of their use
  let weight = 0;
  const remove = (key: string): void => {
    const value = entries.get(key);
    if (value === undefined) return;
    weight -= weightOf(value);
    entries.delete(key);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      remove(key);
      entries.set(key, value);
      weight += weightOf(value);
      for (const oldest of entries.keys()) {
        if (weight <= most) break;
        remove(oldest);
      }
    },
    delete: remove,
  };
}
