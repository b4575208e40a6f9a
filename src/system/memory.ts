const REST_MS = 100;

/**
 * Gives back what a wait has left behind, a moment after the child has started: 3.1 MB become 2.6 (measured). Twice,
 * because what the first collection finalises only the second frees.
 */
export function giveMemoryBack(rounds = 2): void {
  if (rounds === 0) return;
  setTimeout(() => {
    Bun.gc(true);
    Bun.shrink();
    giveMemoryBack(rounds - 1);
  }, REST_MS);
}
