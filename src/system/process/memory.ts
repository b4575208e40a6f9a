import { native } from "../native/native.ts";

const REST_MS = 100;

/**
 * Collects garbage `rounds` times, the first time after 100 ms (`REST_MS`), and then releases the pages of ebb's own
 * file. Returns at once. The second collection frees what the first has finalised. What signals and children leave later,
 * Bun collects itself.
 */
export function giveMemoryBack(rounds = 2): void {
  if (rounds === 0) return native.releasePages();
  setTimeout(() => {
    Bun.gc(true);
    Bun.shrink();
    giveMemoryBack(rounds - 1);
  }, REST_MS);
}
