import { parseArgs } from "node:util";
import { parseDuration } from "../../src/shared/core/duration.ts";
import { startCampaign } from "./campaign.ts";
import { keptSeeds } from "./kept-seeds.ts";
import { type Result, sum } from "./result.ts";

const HELP = `npm run test:faults -- [--seeds A..B] [--soak D] [--seed N [--times K]]
  runs ebb beside a proxy that misbehaves by a plan made from a seed, and judges each run by ebb's promises
  a seed that breaks one, once, is a failure, and is kept in test/faults/kept-seeds.json: all runs begin with those
  --seeds A..B  which seeds (those that were kept, and 1..5000)
  --soak D      only the soak, for so long (20s, after the seeds)
  --seed N      only this one, told in full: its plan, what happened, ebb's log, the verdict
  --times K     this one so often, beside others of its kind; told in full where it breaks a promise`;

const SOAK_MS = 20_000;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", short: "h" },
    seed: { type: "string" },
    seeds: { type: "string" },
    soak: { type: "string" },
    times: { type: "string" },
  },
});
const say = (text: string) => console.log(text);

process.exit(await main());

async function main(): Promise<number> {
  if (values.help === true) say(HELP);
  if (values.help === true) return 0;
  using campaign = startCampaign(say);
  const results: Result[] = [];
  if (values.seed !== undefined && values.times === undefined)
    return (await campaign.replay(Number(values.seed))) ? 0 : 1;
  const took = async (what: string, run: () => Promise<Result>): Promise<void> => {
    const start = performance.now();
    results.push(await run());
    say(`${what}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
  };
  const seeds = chosenSeeds();
  const isAll = values.seeds === undefined && values.seed === undefined;
  if (values.soak === undefined) await took(`${seeds.length} seeds to ${seeds.at(-1)}`, () => campaign.run(seeds));
  const soakMs = values.soak === undefined ? SOAK_MS : (parseDuration(values.soak) ?? SOAK_MS);
  if (isAll) await took("soak", () => campaign.soak(soakMs));
  const { passed, failed } = sum(results);
  say(`${passed} pass\n${failed} fail`);
  return failed === 0 ? 0 : 1;
}

function chosenSeeds(): readonly number[] {
  const { seed, seeds, times } = values;
  if (seed !== undefined) return new Array(Number(times)).fill(Number(seed));
  return seeds === undefined ? [...keptSeeds(), ...rangeOf("1..5000")] : rangeOf(seeds);
}

/** Reads `1..5000`, or one number. @throws Error if it is neither */
function rangeOf(text: string): readonly number[] {
  const [, first = "", last = first] = /^(\d+)(?:\.\.(\d+))?$/.exec(text) ?? [];
  if (first === "" || Number(last) < Number(first))
    throw new Error(`--seeds: expected A..B, got ${JSON.stringify(text)}`);
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
}
