import { pause } from "../controller/pause.ts";
import { createDelayQueue } from "./delay-queue.ts";

/**
 * The pods that wait, by UID: to be judged again at a time (milliseconds since the epoch), or, if stuck, for their
 * turn.
 */
export interface WaitingPods {
  readonly size: number;
  /** Has a pod judged again at this time. */
  later(uid: string, at: number): void;
  /**
   * Puts a stuck pod last in the line for a turn, if it is not in it. A pod that rests is judged again after its rest
   * instead.
   */
  stuck(uid: string): void;
  /** Takes a pod out of that line. */
  notStuck(uid: string): void;
  /** Takes a pod out of that line until this time, at which it is judged again. */
  rest(uid: string, until: number): void;
  forget(uid: string): void;
  /** Waits for the next pod that is to be judged again, and takes it out; undefined: the signal was aborted. */
  due(signal: AbortSignal): Promise<string | undefined>;
  /** Waits for the stuck pod that is first in the line, and takes it out; undefined: the signal was aborted. */
  turn(signal: AbortSignal): Promise<string | undefined>;
  /** Returns the stuck pods in the line. */
  allStuck(): Iterable<string>;
}

const LONGEST_SLEEP_MS = 60_000;

/** Creates the queue of pods that are to be judged later, and the line of stuck pods that wait for their turn. */
export function createWaitingPods(): WaitingPods {
  const queue = createDelayQueue();
  const stuck = new Set<string>();
  const rests = new Map<string, number>();
  let more = new AbortController();
  return {
    get size() {
      return queue.size + stuck.size;
    },
    later: (uid, at) => queue.add(uid, at),
    stuck(uid) {
      const until = rests.get(uid) ?? 0;
      if (until > Date.now()) return queue.add(uid, until);
      stuck.add(uid);
      more.abort();
      more = new AbortController();
    },
    notStuck: (uid) => void stuck.delete(uid),
    rest(uid, until) {
      stuck.delete(uid);
      rests.set(uid, until);
      queue.add(uid, until);
    },
    forget(uid) {
      stuck.delete(uid);
      rests.delete(uid);
      queue.delete(uid);
    },
    due: (signal) => queue.next(signal),
    async turn(signal) {
      while (!signal.aborted) {
        const [uid] = stuck;
        if (uid !== undefined) {
          stuck.delete(uid);
          return uid;
        }
        await pause(LONGEST_SLEEP_MS, AbortSignal.any([signal, more.signal]));
      }
      return undefined;
    },
    allStuck: () => stuck,
  };
}
