import { native } from "../../shared/native/native.ts";

const REST_MS = 100;

/**
 * Collects garbage twice, 100 and 200 ms from now (`REST_MS`), and then releases the pages of ebb's own file. Returns at
 * once. The second collection frees what the first has finalised. What signals and children leave later, Bun collects
 * itself.
 */
export function giveMemoryBack(rounds = 2): void {
  setTimeout(() => {
    Bun.gc(true);
    Bun.shrink();
    if (rounds > 1) return giveMemoryBack(rounds - 1);
    native.releasePages();
  }, REST_MS);
}
