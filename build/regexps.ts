// bun build/regexps.ts looks in src/ for regular expressions whose time grows faster than the text that they read (recheck),
// and fails if it finds one, or one that cannot be judged. A line with the comment `// regexp: WHY IT DOES NO HARM` is exempt.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { check, type Parameters } from "recheck";
import packageJson from "../package.json";
import { cacheFolder } from "./setup/cache.mjs";

/** How recheck judges what stands in src/: it proves its answer. Most take milliseconds. */
const PROVED = { checker: "automaton", timeout: 300_000 } as const;
/** What is built there can be too large for a proof: then recheck counts steps on texts that it makes up. */
const TRIED = { checker: "auto", timeout: 300_000, randomSeed: 1 } as const;

/** An empty file for each judgement that an expression is safe, named by the digest of all that it depends on. */
const safe = join(cacheFolder(), "safe-regexps");

interface Expression {
  /** `src/shared/cli/core/page.ts:33` */
  readonly place: string;
  readonly pattern: string;
  readonly flags: string;
}

function literalsIn(path: string): readonly Expression[] {
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n");
  const literals: Expression[] = [];
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

/** Runs a function, and returns the expressions that src/ builds from texts meanwhile. */
async function builtBy(run: () => Promise<void>): Promise<readonly Expression[]> {
  const built: Expression[] = [];
  const { RegExp: original } = globalThis;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [pattern, flags]) {
      const made = new target(pattern, flags);
      const frames = new Error().stack?.split("\n").filter((frame) => frame.includes("/")) ?? [];
      const place = /\/(src\/[^:]+:[0-9]+)/.exec(frames[1] ?? "")?.[1]; // frames[0] is this function
      if (place !== undefined) built.push({ place, pattern: made.source, flags: made.flags });
      return made;
    },
  });
  try {
    await run();
  } finally {
    globalThis.RegExp = original;
  }
  return built;
}

/** Does what builds the expressions of src/: most are built when their module is loaded. They are pure. */
async function buildAll(): Promise<void> {
  const files = [...new Bun.Glob("src/**/{core,yaml}/**/*.ts").scanSync()];
  const modules = await Promise.all(files.map((file) => import(`../${file}`)));
  const { countInbound, parseChallenges, kindOf, sidecarNames } = Object.assign({}, ...modules);
  parseChallenges("Basic");
  for (const name of sidecarNames) countInbound("", kindOf(name).inbound ?? { clusters: "a" });
}

/** Returns what is wrong with a regular expression; undefined if its time is linear. */
async function faultOf({ pattern, flags }: Expression, how: Parameters): Promise<string | undefined> {
  const judgement = JSON.stringify([packageJson.devDependencies.recheck, how, pattern, flags]);
  const mark = join(safe, createHash("sha256").update(judgement).digest("hex"));
  if (existsSync(mark)) return undefined;
  const result = await check(pattern, flags, how);
  if (result.status === "safe") {
    writeFileSync(mark, "");
    return undefined;
  }
  if (result.status === "unknown") return `it cannot be judged (${result.error.kind})`;
  return `${result.complexity.summary}: ${result.attack.pattern}`;
}

async function faultsIn(expressions: readonly Expression[], how: Parameters): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const expression of expressions) {
    const fault = await faultOf(expression, how);
    if (fault !== undefined) faults.push(`${expression.place}: /${expression.pattern}/${expression.flags}: ${fault}`);
  }
  return faults;
}

mkdirSync(safe, { recursive: true });
const files = [...new Bun.Glob("src/**/*.ts").scanSync()].toSorted();
const faults = [
  ...(await faultsIn(files.flatMap(literalsIn), PROVED)),
  ...(await faultsIn(await builtBy(buildAll), TRIED)),
];
for (const fault of faults) console.error(fault);
if (faults.length > 0)
  console.error("Write them so that they take linear time, or say why they do no harm: // regexp: WHY");
process.exit(faults.length === 0 ? 0 : 1); // recheck's own process would keep this one
