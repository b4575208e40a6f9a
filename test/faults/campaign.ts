import { join } from "node:path";
import { compiled } from "../harness/compiled.ts";
import { canUnshare, inParallel, temporaryFolder } from "../harness/ebb.ts";
import { watchStalls } from "./clock.ts";
import { keepSeeds } from "./kept-seeds.ts";
import { live, type Stage } from "./live.ts";
import { judgeAll } from "./oracle/oracle.ts";
import { callWitness } from "./oracle/witness.ts";
import { planOf } from "./plan/plan.ts";
import type { Plan } from "./plan/planned.ts";
import { describe } from "./replay.ts";
import type { Result } from "./result.ts";
import { soak } from "./soak.ts";

/** The number of runs at the same time: they mostly wait. */
const WIDTH = 16;

interface Campaign extends Disposable {
  /** Runs each seed once. Of each that breaks a promise it says which, and how to see it again, and keeps the seed. */
  run(seeds: readonly number[]): Promise<Result>;
  /** Runs one seed alone, and tells all of it. Resolves with whether all promises were kept. */
  replay(seed: number): Promise<boolean>;
  /** Runs all that lasts for that many milliseconds. */
  soak(ms: number): Promise<Result>;
}

/** Starts a campaign, which tells its results to `say`. */
export function startCampaign(say: (text: string) => void): Campaign {
  const folder = temporaryFolder();
  const witness = callWitness(join(folder.path, "witness.sock"));
  const stalls = watchStalls();
  const stage: Stage = { app: compiled(join(import.meta.dirname, "app.c")), witness, stalls };
  const canBePid1 = canUnshare("--pid", "--fork", "--mount-proc", "--kill-child");
  const judge = async (seed: number) => {
    const planned = planOf(seed);
    const plan: Plan = { ...planned, isPid1: planned.isPid1 && canBePid1 };
    const seen = await live(plan, stage);
    return { plan, seen, violations: judgeAll(plan, seen) };
  };
  const run = async (seeds: readonly number[]): Promise<Result> => {
    const broken = new Set<number>();
    const runOne = async (seed: number): Promise<boolean> => {
      const { plan, seen, violations } = await judge(seed);
      if (violations.length === 0) return true;
      broken.add(seed);
      say(`seed ${seed} broke a promise:\n${describe(plan, seen, violations)}`);
      return false;
    };
    const kept = await inParallel(seeds, runOne, WIDTH);
    if (broken.size > 0) keepSeeds(broken);
    for (const seed of broken) say(`see it again: npm run test:faults -- --seed ${seed} --times 50`);
    const passed = kept.filter(Boolean).length;
    return { passed, failed: seeds.length - passed };
  };
  return {
    run,
    async replay(seed) {
      const { plan, seen, violations } = await judge(seed);
      say(describe(plan, seen, violations));
      return violations.length === 0;
    },
    soak: (ms) => soak(ms, [stage.app, witness.path], witness, say),
    [Symbol.dispose]() {
      stalls[Symbol.dispose]();
      witness[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}
