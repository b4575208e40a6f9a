import { describe, expect, test } from "bun:test";
import { canUnshare, inParallel } from "../../harness/ebb.ts";
import { knownTo } from "../../syscalls/known.ts";
import { describePoint, fewPointsOf } from "../../syscalls/points.ts";
import type { ScenarioName } from "../../syscalls/scenarios.ts";
import { tryPoint } from "../../syscalls/trial.ts";

// npm run test:syscalls tries each call, each time, with each error: some 7000 runs. These are a few of them, always the same.

const names: readonly ScenarioName[] = ["ready", "stop", ...(canUnshare("--mount") ? (["first"] as const) : [])];

describe("a system call that fails once", () => {
  test.each(names)(
    "loses neither the app, its code, nor a word: %s",
    async (scenario) => {
      const { made, problems } = await tryPoint(scenario);
      expect(problems).toEqual([]);
      const results = await inParallel(fewPointsOf(made), async (point) => ({
        point,
        trial: await tryPoint(scenario, point),
      }));
      const failed = results.filter(({ point, trial }) => trial.problems.length > 0 && !knownTo(point, trial.ended));
      expect(failed.map(({ point, trial }) => `${describePoint(point)}: ${trial.problems}`)).toEqual([]);
      expect(results.filter(({ trial }) => trial.hasFailed).length).toBeGreaterThan(results.length / 2);
    },
    120_000,
  );
});
