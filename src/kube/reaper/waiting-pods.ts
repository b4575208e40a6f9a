import { pause } from "../controller/pause.ts";
import { createDelayQueue } from "./delay-queue.ts";

/** Which pods wait, by UID: for their time to be judged again, or, stuck, for their turn. */
export interface WaitingPods {
  readonly size: number;
  /** Judged again then. */
  later(uid: string, at: number): void;
  /** It is stuck; where it rests it is judged again when that is over. */
  stuck(uid: string): void;
  notStuck(uid: string): void;
  /** Its turn does not come before this time. */
  rest(uid: string, until: number): void;
  forget(uid: string): void;
  /** The next that is to be judged again; undefined: the signal was aborted. */
  due(signal: AbortSignal): Promise<string | undefined>;
  /** The next whose turn it is, in the order in which they were found stuck; undefined: the signal was aborted. */
  turn(signal: AbortSignal): Promise<string | undefined>;
  /** Those that wait for their turn. */
  allStuck(): Iterable<string>;
}

const LONGEST_SLEEP_MS = 60_000;

/** Creates the queue of pods to be judged later, and of stuck pods whose turn has not come. */
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
