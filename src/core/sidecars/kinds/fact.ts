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

/**
 * Parses the facts of a sidecar's file, one a line: `ABOUT | ran PROGRAM VERSION, TEST | SAYS`, or `ABOUT | read SOURCE | SAYS`.
 * Not in the executable. @throws Error that names the line
 */
export function readFacts(table: string): readonly Fact[] {
  return table.trim().split("\n").map(readFact);
}

function readFact(line: string): Fact {
  const [name, how = "", says] = line.split(" | ");
  const about = aspects.find((each) => each === name);
  const comma = how.lastIndexOf(", ");
  const said = says === undefined ? {} : { says };
  if (about !== undefined && how.startsWith("read ")) return { about, read: how.slice("read ".length), ...said };
  if (about !== undefined && how.startsWith("ran ") && comma > 0) {
    return { about, ran: how.slice("ran ".length, comma), by: how.slice(comma + 2), ...said };
  }
  throw new Error(`not a fact: ${line}`);
}
