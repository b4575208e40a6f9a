import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ebbPath, temporaryFolder } from "../harness/ebb.ts";
import type { Case } from "./case.ts";
import { judge } from "./judge.ts";
import type { Pool } from "./pool.ts";
import { type ToolName, toolNames } from "./rivals.ts";

/** The time for ebb: much more than any case takes. */
const LIMIT_MS = 30_000;

const folder = temporaryFolder();
process.on("exit", () => folder[Symbol.dispose]());
mkdirSync(join(folder.path, "bin"));
for (const name of toolNames) symlinkSync(ebbPath, join(folder.path, "bin", name));

/** Returns the words that start ebb in another tool's place: by a link of that name (0), or as `ebb NAME` (1). */
function wordsOf(as: ToolName, way: 0 | 1): readonly string[] {
  return way === 0 ? [join(folder.path, "bin", as)] : [ebbPath, as];
}

/** Runs a case against ebb in one way after the other, and resolves with what is not as expected. */
export async function runEbb(pool: Pool, given: Case, numbers: readonly (0 | 1)[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const number of numbers) {
    const words = wordsOf(given.as, number);
    const found = await tryWay(pool, given, words);
    problems.push(...found.map((problem) => (number === 0 ? problem : `as ebb NAME: ${problem}`)));
  }
  return problems;
}

async function tryWay(pool: Pool, given: Case, words: readonly string[]): Promise<readonly string[]> {
  const outcome = await pool.run({ name: given.name, tool: { words, limitMs: LIMIT_MS } });
  const problems = judge(given, outcome);
  return problems.length === 0 ? problems : [...problems, `stderr: ${outcome.stderr.trim()}`];
}
