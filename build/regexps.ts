// bun build/regexps.ts looks in src/ for regular expressions whose time grows faster than the text that they read (recheck),
// and fails if it finds one, or one that cannot be judged. A line with the comment `// regexp: WHY IT DOES NO HARM` is exempt.
// Those that are built from data: test/core/regexps.test.ts.
import { readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";
import { check } from "recheck";

/** `automaton`: it proves its answer; recheck's other checker tries texts by chance and time. Most take milliseconds. */
const parameters = { checker: "automaton", timeout: 300_000 } as const;

interface Literal {
  /** `src/core/cli/page.ts:33` */
  readonly place: string;
  readonly pattern: string;
  readonly flags: string;
}

function literalsIn(path: string): readonly Literal[] {
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n");
  const literals: Literal[] = [];
  const visitor = new Visitor({
    Literal(node) {
      if (!("regex" in node)) return;
      const row = text.slice(0, node.start).split("\n").length;
      if (!lines[row - 1]?.includes("// regexp: ")) literals.push({ place: `${path}:${row}`, ...node.regex });
    },
  });
  visitor.visit(parseSync(path, text).program);
  return literals;
}

/** Returns what is wrong with a regular expression; undefined if its time is linear. */
async function faultOf({ pattern, flags }: Literal): Promise<string | undefined> {
  const result = await check(pattern, flags, parameters);
  if (result.status === "safe") return undefined;
  if (result.status === "unknown") return `it cannot be judged (${result.error.kind})`;
  return `${result.complexity.summary}: ${result.attack.pattern}`;
}

let count = 0;
for (const path of [...new Bun.Glob("src/**/*.ts").scanSync()].toSorted()) {
  for (const literal of literalsIn(path)) {
    const fault = await faultOf(literal);
    if (fault === undefined) continue;
    count += 1;
    console.error(`${literal.place}: /${literal.pattern}/${literal.flags}: ${fault}`);
  }
}
if (count > 0) console.error("Write them so that they take linear time, or say why they do no harm: // regexp: WHY");
process.exit(count === 0 ? 0 : 1); // recheck's own process would keep this one
