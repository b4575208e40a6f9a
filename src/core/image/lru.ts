/** A map that forgets what was not used for longest once it holds more than `most` entries. */
export interface Lru<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Creates an empty map of at most `most` entries. */
export function createLru<V>(most: number): Lru<V> {
  const entries = new Map<string, V>(); // in the order of their use
  const set = (key: string, value: V): void => {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size > most) entries.delete(entries.keys().next().value as string);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    delete: (key) => void entries.delete(key),
  };
}
