import { inParallel } from "../../harness.ts";
import { wordsOf } from "../ebb.ts";
import type { Pool } from "../pool.ts";
import type { Rival } from "../rivals.ts";
import type { Outcome } from "../run.ts";
import { type Aspect, compare, marginOf } from "./compare.ts";
import { factsOf } from "./facts.ts";
import { broken } from "./invariants.ts";
import { unexplained } from "./known/known.ts";
import { planOf } from "./plan/plan.ts";
import type { Plan } from "./plan/planned.ts";
import { describeDifference, describePlan } from "./report.ts";
import { shrink } from "./shrink.ts";

/** The time for ebb: much more than it takes in any plan. */
const LIMIT_MS = 30_000;
/** The time for a rival: longer than any limit in a plan that a rival has. */
const RIVAL_LIMIT_MS = 9000;
/** The number of times that a plan with a difference is run again, to tell how stable the difference is. */
const REPEATS = 3;

export interface RandomRun {
  readonly rival: Rival;
  /** The path of the rival; undefined if ebb alone is judged. */
  readonly path: string | undefined;
  readonly seeds: readonly number[];
  /** The number of plans at the same time. */
  readonly width: number;
  readonly say: (text: string) => void;
}

/** The number of bad plans that are made smaller before they are told; others are told as they are. */
const MOST_TOLD = 12;

/** The result of a plan. */
interface Result {
  readonly ours: Outcome;
  readonly theirs: Outcome | undefined;
  readonly broken: readonly string[];
  readonly left: readonly Aspect[];
  readonly by: readonly string[];
}

interface Bad {
  readonly plan: Plan;
  readonly result: Result;
}

/**
 * Runs the plans of these seeds. Resolves with the number of plans that broke a promise, or showed an unexplained
 * difference.
 */
export async function runRandom(pool: Pool, run: RandomRun): Promise<number> {
  const bad: Bad[] = [];
  const shown = new Map<string, number>();
  let differing = 0;
  await inParallel(
    run.seeds,
    async (seed) => {
      const plan = planOf(run.rival, seed);
      const result = await tryPlan(pool, run, plan);
      for (const id of result.by) shown.set(id, (shown.get(id) ?? 0) + 1);
      if (isBad(result)) bad.push({ plan, result });
      else if (result.by.length > 0) differing += 1;
    },
    run.width,
  );
  for (const each of bad.slice(0, MOST_TOLD)) await explain(pool, run, each);
  for (const { plan, result } of bad.slice(MOST_TOLD)) {
    run.say([...describePlan(plan), ...problemsOf(result)].join("\n  "));
  }
  const counts = [...shown].toSorted(([, a], [, b]) => b - a).map(([id, count]) => `${id} ${count}`);
  const beside = run.path === undefined ? "" : `, ${differing} differ as listed (${counts.join(", ") || "none"})`;
  run.say(`${run.rival}: ${run.seeds.length} cases by chance${beside}, ${bad.length} not explained`);
  return bad.length;
}

function isBad({ broken: promises, left }: Result): boolean {
  return promises.length + left.length > 0;
}

async function tryPlan(pool: Pool, { path }: Pick<RandomRun, "path">, plan: Plan): Promise<Result> {
  const asEbb = {
    words: wordsOf(plan.rival === "scuttle-redbox" ? "scuttle" : plan.rival, plan.seed % 2 === 0 ? 0 : 1),
    limitMs: LIMIT_MS,
  };
  const [ours, theirs] = await Promise.all([
    pool.run({ plan, tool: asEbb }),
    path === undefined ? undefined : pool.run({ plan, tool: { words: [path], limitMs: RIVAL_LIMIT_MS } }),
  ]);
  if (theirs === undefined) return { ours, theirs, broken: broken(plan, ours), left: [], by: [] };
  const facts = factsOf(plan, ours, theirs, marginOf(ours, theirs));
  return { ours, theirs, broken: broken(plan, ours), ...unexplained(compare(ours, theirs), facts) };
}

function problemsOf({ broken: promises, left, ours, theirs }: Result): readonly string[] {
  const differences = theirs === undefined ? [] : left.map((aspect) => describeDifference(aspect, ours, theirs));
  return [...promises.map((problem) => `BROKEN ${problem}`), ...differences.map((each) => `DIFFERS ${each}`)];
}

/** Reports whether the same is wrong in both results. */
function isAlike(a: Result, b: Result): boolean {
  return Bun.deepEquals(a.left, b.left) && a.broken.length > 0 === b.broken.length > 0;
}

/** Says what is wrong with a plan, after making it as small as it can, and how stable that is. */
async function explain(pool: Pool, run: RandomRun, { plan, result }: Bad): Promise<void> {
  const attempt = (smaller: Plan) => tryPlan(pool, run, smaller);
  const again = await Promise.all(Array.from({ length: REPEATS }, () => attempt(plan)));
  const times = again.filter(isBad).length;
  const isSame = async (smaller: Plan) => isAlike(await attempt(smaller), result);
  const small = times === REPEATS ? await shrink(plan, isSame) : plan;
  const last = small === plan ? result : await attempt(small);
  const told = isBad(last) ? { plan: small, result: last } : { plan, result };
  const lines = [
    ...describePlan(told.plan),
    ...problemsOf(told.result),
    `ebb said: ${told.result.ours.stderr.trim().slice(-600)}`,
    `shown again ${times} of ${REPEATS} times; alone: npm run conformance -- --random 1 --seed ${plan.seed} --as ${run.rival}`,
  ];
  run.say(`${lines.join("\n  ")}\n`);
}
