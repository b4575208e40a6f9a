/** What of a sidecar a fact is about. */
export const aspects = [
  "admin",
  "ready",
  "quit",
  "leaves",
  "refusals",
  "drain",
  "count",
  "found",
  "pod",
  "native",
  "moved",
  "container",
  "reaper",
] as const;

/**
 * How a fact is known: `ran`, by a test of ours (`by`) on the program itself, in this version; or `read` in its source: version, file,
 * line. `says` tells what the fields of the kind do not.
 */
export type Fact = { readonly about: (typeof aspects)[number]; readonly says?: string } & (
  | { readonly ran: string; readonly by: string }
  | { readonly read: string }
);
