import { deadline } from "../../shared/io/timer.ts";
import { whenAborted } from "./stops.ts";

/** A work queue and its workers, as client-go has them (util/workqueue): no key is reconciled twice at once. */
interface WorkQueue {
  /** Has a key reconciled after this time. If it waits already, the earlier time counts. */
  add(key: string, afterMs?: number): void;
  /** Takes a key out of the queue. */
  forget(key: string): void;
  /** Returns the keys in the queue. */
  waiting(): readonly string[];
  /**
   * Reconciles keys until the signal is aborted, or, with `untilEmpty`, until none waits; resolves when no worker has one
   * any more. Rejects with what a reconcile rejects with: a bug.
   */
  run(signal: AbortSignal, untilEmpty?: boolean): Promise<void>;
}

/**
 * Creates a queue that calls `reconcile` with the keys that are due, in order, `concurrency` at a time. The
 * milliseconds that it resolves with are the pause before the key's next turn; undefined: there is none.
 */
export function createWorkQueue(
  reconcile: (key: string) => Promise<number | undefined>,
  concurrency: number,
): WorkQueue {
  const due = new Set<string>();
  const delayed = new Map<string, { readonly at: number; cancel(): void }>();
  const working = new Map<string, Promise<void>>();
  const failed = Promise.withResolvers<never>();
  let stop = AbortSignal.abort();
  let emptied = (): void => undefined;
  const forget = (key: string): void => {
    due.delete(key);
    delayed.get(key)?.cancel();
    delayed.delete(key);
  };
  const add = (key: string, afterMs = 0): void => {
    const at = performance.now() + Math.max(0, afterMs);
    if (due.has(key) || (delayed.get(key)?.at ?? Number.POSITIVE_INFINITY) <= at) return;
    forget(key);
    const ready = (): void => {
      delayed.delete(key);
      due.add(key);
      dispatch();
    };
    if (afterMs > 0) delayed.set(key, { at, cancel: deadline(afterMs, ready) });
    else ready();
  };
  const dispatch = (): void => {
    for (const key of due) {
      if (stop.aborted || working.size >= concurrency) return;
      if (working.has(key)) continue; // it has changed meanwhile: its turn is after this one
      due.delete(key);
      working.set(key, work(key));
    }
    if (due.size + delayed.size + working.size === 0) emptied();
  };
  const work = async (key: string): Promise<void> => {
    try {
      const afterMs = await reconcile(key);
      if (afterMs !== undefined) add(key, afterMs);
    } catch (error) {
      failed.reject(error);
    }
    working.delete(key);
    dispatch();
  };
  return {
    add,
    forget,
    waiting: () => [...due, ...delayed.keys()],
    async run(signal, untilEmpty = false) {
      const empty = Promise.withResolvers<void>();
      if (untilEmpty) emptied = empty.resolve;
      stop = signal;
      dispatch();
      await Promise.race([whenAborted(signal), failed.promise, empty.promise]);
      await Promise.all(working.values());
      for (const key of delayed.keys()) forget(key);
    },
  };
}
