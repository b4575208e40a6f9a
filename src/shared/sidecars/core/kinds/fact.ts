/** The aspects of a sidecar that a fact can be about. */
export const aspects = [
  "admin",
  "ready",
  "quit",
  "exitsWhen",
  "alwaysOpen",
  "stop",
  "refusals",
  "drain",
  "count",
  "found",
  "identity",
  "native",
  "moved",
  "container",
  "reaper",
] as const;

/**
 * A fact about a sidecar, and how it is known. `ran`: the test `by` of this repository ran the program itself, of this
 * name and version. `read`: it was read in the source, with version, file and line. `says` adds what the fields of the
 * kind do not say.
 */
export type Fact = { readonly about: (typeof aspects)[number]; readonly says?: string } & (
  | { readonly ran: string; readonly by: string }
  | { readonly read: string }
);

/**
 * Parses the facts in a sidecar's file, one in each line: `ABOUT | ran PROGRAM VERSION, TEST | SAYS`, or
 * `ABOUT | read SOURCE | SAYS`. Used by tests and the build, not by the executable.
 * @throws Error, with the line, if a line is not a fact
 */
export function readFacts(table: string): readonly Fact[] {
  return table.trim().split("\n").map(readFact);
}

function readFact(line: string): Fact {
  const [name, how = "", says] = line.split(" | ");
  const about = aspects.find((each) => each === name);
  const comma = how.lastIndexOf(", ");
  const note = says === undefined ? {} : { says };
  if (about !== undefined && how.startsWith("read ")) return { about, read: how.slice("read ".length), ...note };
  if (about !== undefined && how.startsWith("ran ") && comma > 0) {
    return { about, ran: how.slice("ran ".length, comma), by: how.slice(comma + 2), ...note };
  }
  throw new Error(`not a fact: ${line}`);
}
