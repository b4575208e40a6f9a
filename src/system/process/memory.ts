import { native } from "../native/native.ts";

const REST_MS = 100;
const MANY = 1000;
const LONGEST_STORM = 50;

/**
 * Collects garbage `rounds` times, the first time after 100 ms (`REST_MS`), and ends the advice of a cold start
 * (`native.settle`). Returns at once. After the child's start it takes 3.1 MB down to 2.6 (measured). The second
 * collection frees what the first has finalised.
 */
export function giveMemoryBack(rounds = 2): void {
  if (rounds === 0) return;
  setTimeout(() => {
    Bun.gc(true);
    Bun.shrink();
    native.settle(); // by now everything that a run needs has run once
    giveMemoryBack(rounds - 1);
  }, REST_MS);
}

const MANY_BYTES = 2 * 1024 * 1024;
let readBytes = 0;

/**
 * Counts bytes that were read and not kept, and collects garbage, synchronously, after each 2 MiB (`MANY_BYTES`):
 * otherwise a hundred megabytes would stay. Returns whether it collected.
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
 * Counts one SIGCHLD: a signal, or a change of a child. Each leaves garbage that nothing else collects while ebb is
 * idle, so after 1,000 (`MANY`) the garbage collector runs as soon as none has come for 100 ms, after 5 s at the
 * latest.
 */
export function collectAfterManyWakeUps(): void {
  wakeUps += 1;
  if (wakeUps === MANY) giveBackAfterStorm(LONGEST_STORM);
}

/** Waits for a pause, so that the collection delays no signal, at most `longest` times `REST_MS`. */
function giveBackAfterStorm(longest: number): void {
  const before = wakeUps;
  setTimeout(() => {
    if (wakeUps !== before && longest > 0) return giveBackAfterStorm(longest - 1);
    wakeUps = 0;
    giveMemoryBack();
  }, REST_MS);
}
