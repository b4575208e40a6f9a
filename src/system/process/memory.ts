const REST_MS = 100;

/**
 * Collects garbage `rounds` times, the first time after 100 ms (`REST_MS`). Returns at once. After the child's start it
 * takes 3.1 MB down to 2.6 (measured). The second collection frees what the first has finalised. What signals and
 * children leave later, Bun collects itself.
 */
export function giveMemoryBack(rounds = 2): void {
  if (rounds === 0) return;
  setTimeout(() => {
    Bun.gc(true);
    Bun.shrink();
    giveMemoryBack(rounds - 1);
  }, REST_MS);
}
