import { parseArgs } from "node:util";
import { inParallel } from "../harness/ebb.ts";
import { knownTo } from "./known.ts";
import { describePoint, type Made, type Point, pointsOf } from "./points.ts";
import { type ScenarioName, scenarios } from "./scenarios.ts";
import { tryPoint } from "./trial.ts";

const HELP = `npm run test:syscalls -- [--scenario NAME] [--role main|thread|child] [--call NAME] [--count N] [--error NAME] [--width N]
  each system call of ebb run fails once, with each error that it can have; each run is judged by ebb's promises
  --scenario NAME  one of ${Object.keys(scenarios).join(", ")} (all)
  --role, --call, --count, --error  only those points; one point alone is told in full
  --width N        so many at the same time (3)`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", short: "h" },
    scenario: { type: "string" },
    role: { type: "string" },
    call: { type: "string" },
    count: { type: "string" },
    error: { type: "string" },
    width: { type: "string" },
  },
});

process.exit(await main());

async function main(): Promise<number> {
  if (values.help === true) console.log(HELP);
  if (values.help === true) return 0;
  const names = (Object.keys(scenarios) as ScenarioName[]).filter((name) => (values.scenario ?? name) === name);
  const total = { runs: 0, failed: 0 };
  for (const name of names) {
    const { runs, failed } = await sweep(name);
    total.runs += runs;
    total.failed += failed;
  }
  console.log(`${total.runs - total.failed} pass\n${total.failed} fail`);
  return total.failed === 0 ? 0 : 1;
}

/** Tries all points of a scenario, and resolves with the number of runs, and of those that broke a promise. */
async function sweep(name: ScenarioName): Promise<{ readonly runs: number; readonly failed: number }> {
  const start = performance.now();
  const points = pointsOf(await callsOf(name)).filter(isMeant);
  const counts = { tried: 0, missed: 0, known: 0, failed: 0 };
  await inParallel(
    points,
    async (point) => {
      const { hasFailed, problems, ended } = await tryPoint(name, point);
      counts[hasFailed ? "tried" : "missed"] += 1;
      if (points.length === 1) console.log(ended.stderr, { code: ended.code, hasFailed });
      if (problems.length === 0) return;
      const reason = knownTo(point, ended);
      counts[reason === undefined ? "failed" : "known"] += 1;
      if (reason === undefined) console.log(`${name}: ${describePoint(point)}: ${problems.join("; ")}`);
    },
    Number(values.width ?? 3),
  );
  const took = ((performance.now() - start) / 1000).toFixed(0);
  console.log(
    `${name}: ${points.length} points, ${counts.tried} calls failed, ${counts.missed} not made; ${counts.failed} fail, ${counts.known} known; ${took} s`,
  );
  return { runs: points.length, failed: counts.failed };
}

function isMeant(point: Point): boolean {
  const wanted: Readonly<Record<string, string | undefined>> = values as Record<string, string | undefined>;
  return (["role", "call", "count", "error"] as const).every(
    (key) => (wanted[key] ?? String(point[key])) === String(point[key]),
  );
}

/**
 * Resolves with the calls of a run in which none fails: the most of three runs, because threads and time make a
 * difference.
 */
async function callsOf(name: ScenarioName): Promise<readonly Made[]> {
  const made = new Map<string, Made>();
  for (let run = 0; run < 3; run++) {
    const trial = await tryPoint(name);
    if (trial.problems.length > 0) throw new Error(`${name}, without a failure: ${trial.problems.join("; ")}`);
    for (const each of trial.made) {
      const key = `${each.role} ${each.call}`;
      if ((made.get(key)?.count ?? 0) < each.count) made.set(key, each);
    }
  }
  return [...made.values()];
}
