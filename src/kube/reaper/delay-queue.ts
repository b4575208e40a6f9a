import { createNotifier } from "../controller/pause.ts";

/** A queue of keys, each due at a time (milliseconds since the epoch). */
export interface DelayQueue {
  readonly size: number;
  /** Adds a key. If it is in the queue already, the earlier time counts. */
  add(key: string, at: number): void;
  delete(key: string): void;
  /** Waits for the next key that is due, and takes it out. Resolves with undefined when the signal is aborted. */
  next(signal: AbortSignal): Promise<string | undefined>;
}

const LONGEST_SLEEP_MS = 60_000; // so a clock that is set meanwhile is noticed

/** Creates a queue of keys that are each due at a time. A key that is added again keeps the earlier time. */
export function createDelayQueue(): DelayQueue {
  const times = new Map<string, number>();
  const heap = createHeap();
  const notifier = createNotifier();
  const isStale = ({ key, at }: Entry): boolean => times.get(key) !== at;
  const first = (): Entry | undefined => {
    for (let entry = heap.first(); entry !== undefined; entry = heap.first()) {
      if (!isStale(entry)) return entry;
      heap.take(); // the key was deleted, or is due earlier
    }
    return undefined;
  };
  return {
    get size() {
      return times.size;
    },
    add(key, at) {
      const known = times.get(key);
      if (known !== undefined && known <= at) return;
      times.set(key, at);
      heap.put({ key, at });
      if (first()?.key === key) notifier.notify();
    },
    delete: (key) => void times.delete(key),
    async next(signal) {
      while (!signal.aborted) {
        const entry = first();
        const leftMs = entry === undefined ? LONGEST_SLEEP_MS : entry.at - Date.now();
        if (entry !== undefined && leftMs <= 0) {
          heap.take();
          times.delete(entry.key);
          return entry.key;
        }
        await notifier.wait(Math.min(leftMs, LONGEST_SLEEP_MS), signal);
      }
      return undefined;
    },
  };
}

interface Entry {
  readonly key: string;
  readonly at: number;
}

/** Creates a binary heap with the earliest entry first. */
function createHeap() {
  const entries: Entry[] = [];
  const at = (index: number): number => entries[index]?.at ?? Number.POSITIVE_INFINITY;
  const swap = (one: number, other: number): void => {
    [entries[one], entries[other]] = [entries[other] as Entry, entries[one] as Entry];
  };
  return {
    first: (): Entry | undefined => entries[0],
    put(entry: Entry): void {
      let index = entries.push(entry) - 1;
      for (let parent = (index - 1) >> 1; index > 0 && at(index) < at(parent); parent = (index - 1) >> 1) {
        swap(index, parent);
        index = parent;
      }
    },
    take(): void {
      const last = entries.pop();
      if (last === undefined || entries.length === 0) return;
      entries[0] = last;
      for (let index = 0; ; ) {
        const left = 2 * index + 1;
        const child = at(left + 1) < at(left) ? left + 1 : left;
        if (at(child) >= at(index)) return;
        swap(index, child);
        index = child;
      }
    },
  };
}
