import { parseArgs } from "node:util";
import { parseDuration } from "../../src/shared/core/duration.ts";
import { processorMs } from "../harness/processor-time.ts";
import type { Grammar } from "./cluster-grammars.ts";
import { grammars, inputOf } from "./grammars.ts";

// npm run fuzz -- [NAME] --for 10m [--seed N] stops a grammar at its first failure, and shows its seed and its input,
// which belongs in corpus/.

const { values, positionals } = parseArgs({
  options: { for: { type: "string", default: "10m" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});
const forMs = parseDuration(values.for);
const names = positionals.length > 0 ? positionals : Object.keys(grammars);
if (forMs === undefined || names.some((name) => !Object.hasOwn(grammars, name))) {
  console.error(`expected any of ${Object.keys(grammars).join(", ")}, and --for 10m`);
  process.exit(64);
}

/** The time, in ms, for one input of at most some tens of kilobytes: a linear parser takes a hundredth of it. */
const MOST_MS = 2000;

function failureOf({ check }: Grammar, input: string): string | undefined {
  const start = performance.now();
  try {
    check(input);
    if (performance.now() - start <= MOST_MS) return undefined;
    const tookMs = processorMs(() => check(input)); // it may have been the machine
    return tookMs > MOST_MS ? `it took ${Math.round(tookMs)} ms of processor time` : undefined;
  } catch (error) {
    return (error as Error).stack;
  }
}

/** Feeds a grammar's parser for `forMs`, and returns whether it took everything. */
function takesAll(name: string, grammar: Grammar, forMs: number, first: number): boolean {
  const end = performance.now() + forMs;
  let seed = first;
  for (; performance.now() < end; seed += 1) {
    const input = inputOf(grammar, seed);
    const failure = failureOf(grammar, input);
    if (failure === undefined) continue;
    console.error(`(fail) ${name}: seed ${seed}: ${failure}\n${JSON.stringify(input)}`);
    return false;
  }
  console.log(`${name}: ${seed - first} inputs from seed ${first} on, no failure`);
  return true;
}

const chosen = Object.entries(grammars).filter(([name]) => names.includes(name));
const failed = chosen.filter(([name, grammar]) => !takesAll(name, grammar, forMs, Number(values.seed))).length;
console.log(`${chosen.length - failed} pass\n${failed} fail`);
process.exitCode = failed === 0 ? 0 : 1;
