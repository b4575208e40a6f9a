import { native } from "../native/native.ts";

const REST_MS = 100;
const MANY = 1000;
const LONGEST_STORM = 50;

/**
 * Collects garbage after the wait, a moment after the child has started: 3.1 MB become 2.6 (measured). Twice, because the second
 * collection frees what the first has finalised.
 */
export function giveMemoryBack(rounds = 2): void {
  if (rounds === 0) return;
  setTimeout(() => {
    Bun.gc(true);
    Bun.shrink();
    native.settle(); // by now all has run once that a run needs
    giveMemoryBack(rounds - 1);
  }, REST_MS);
}

const MANY_BYTES = 2 * 1024 * 1024;
let readBytes = 0;

/**
 * Counts bytes that were read and not kept, and collects garbage after enough of them: else a hundred megabytes would stay.
 * Returns whether it collected.
 */
export function collectAfterManyBytes(bytes: number): boolean {
  readBytes += bytes;
  if (readBytes < MANY_BYTES) return false;
  readBytes = 0;
  Bun.gc(true);
  return true;
}

let wakeUps = 0;

/**
 * Counts a signal or a child's end. After many in a short time the collector runs, once it is quiet: each leaves some garbage, which
 * nothing else collects while ebb is idle.
 */
export function collectAfterManyWakeUps(): void {
  wakeUps += 1;
  if (wakeUps === MANY) giveBackAfterStorm(LONGEST_STORM);
}

/** Once nothing has come for a moment, so that it delays no signal; at the latest after 5 s. */
function giveBackAfterStorm(longest: number): void {
  const before = wakeUps;
  setTimeout(() => {
    if (wakeUps !== before && longest > 0) return giveBackAfterStorm(longest - 1);
    wakeUps = 0;
    giveMemoryBack();
  }, REST_MS);
}
