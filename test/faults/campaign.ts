import { join } from "node:path";
import { canUnshare, compiled, inParallel, temporaryFolder } from "../harness.ts";
import type { Violation } from "./case.ts";
import { watchStalls } from "./clock.ts";
import { live, type Seen, type Stage } from "./live.ts";
import { judgeAll } from "./oracle.ts";
import { type Plan, planOf } from "./plan.ts";
import { describe } from "./replay.ts";
import type { Result } from "./result.ts";
import { soak } from "./soak.ts";
import { callWitness } from "./witness.ts";

/** They mostly wait. */
const WIDTH = 16;
const TIMES_ALONE = 3;
const TIMES_TOGETHER = 48;

export interface Campaign extends Disposable {
  /** Runs all seeds, and says of each that breaks a promise which, and how to see it again. */
  run(seeds: readonly number[]): Promise<Result>;
  /** Runs one seed alone, and tells all of it. */
  replay(seed: number): Promise<boolean>;
  /** All that lasts, for so many milliseconds. */
  soak(ms: number): Promise<Result>;
}

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
  /** Alone, and among as many as the first time: what was the machine's doing does not come back. */
  const again = async (seed: number): Promise<boolean> => {
    const breaks = async () => (await judge(seed)).violations.length > 0;
    for (let times = 0; times < TIMES_ALONE; times++) if (await breaks()) return true;
    return (await inParallel(new Array(TIMES_TOGETHER).fill(seed), breaks, WIDTH)).includes(true);
  };
  const run = async (seeds: readonly number[]): Promise<Result> => {
    const suspects: Suspect[] = [];
    let passed = 0;
    await inParallel(
      seeds,
      async (seed) => {
        const { plan, seen, violations } = await judge(seed);
        if (violations.length === 0) passed += 1;
        else suspects.push({ plan, seen, violations });
      },
      WIDTH,
    );
    let failed = 0;
    for (const { plan, seen, violations } of suspects) {
      const [{ what } = { what: "" }] = violations;
      if (await again(plan.seed)) {
        failed += 1;
        say(`seed ${plan.seed} broke a promise:\n${describe(plan, seen, violations)}`);
        say(`see it again: npm run test:faults -- --seed ${plan.seed}\n`);
      } else {
        passed += 1;
        say(`seed ${plan.seed}: ${what}: once, and not again in ${TIMES_ALONE + TIMES_TOGETHER} tries`);
      }
    }
    return { passed, failed };
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

interface Suspect {
  readonly plan: Plan;
  readonly seen: Seen;
  readonly violations: readonly Violation[];
}
