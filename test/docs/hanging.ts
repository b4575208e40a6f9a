import { readFileSync } from "node:fs";
import { join } from "node:path";

/** How the manual ends a sidecar by hand. */
interface Ending {
  readonly container: string;
  /** What `kubectl exec` runs in its container; undefined if there is nothing. */
  readonly command: string | undefined;
  /** `PORT/PATH` of a POST. */
  readonly post: string;
  /** How it is known. */
  readonly known: string;
}

const page = readFileSync(join(import.meta.dirname, "../../src/manual/hanging.md"), "utf8");

const [, section = ""] = /\n## End it by exec\n([\s\S]*?)\n## /.exec(page) ?? [];

/** The rows of the table. */
export const endings: readonly Ending[] = section
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.includes("`"))
  .map((line) => {
    const [sidecar = "", command = "", post = "", known = ""] = line.split(" | ").map((cell) => cell.trim());
    return {
      container: codeIn(sidecar) ?? "",
      command: command.startsWith("`") ? codeIn(command) : undefined,
      post: codeIn(post) ?? "",
      known: known.replace(/ \|$/, ""),
    };
  });

/** Returns the words that the manual has `kubectl exec` run in a container. @throws Error if it has none */
export function execWords(container: string): readonly string[] {
  const command = endings.find((ending) => ending.container === container)?.command;
  if (command === undefined) throw new Error(`hanging.md ends ${container} by no exec`);
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = ""]) => quoted ?? word);
}

function codeIn(cell: string): string | undefined {
  return /`([^`]+)`/.exec(cell)?.[1];
}
