import { expect, test } from "bun:test";
import { namespace } from "../cluster.ts";
import { hasCondition } from "../objects.ts";
import { type PodEvent, reaperEvents, startReaper } from "./reapers.ts";
import { configMaps, type StuckJob, stuckJobs } from "./stuck-jobs.ts";

// Thirty Jobs at once. Their Events are printed, so that a person can read whether each says what was done, by which
// method, and what is left.

const LONG_MS = 300_000;
const TEST_MS = 900_000;

test(
  "thirty stuck Jobs of different shapes: each ends, or its Event says why not",
  async () => {
    expect(stuckJobs).toHaveLength(30);
    await using here = await namespace({ "ebb.dev/reap": "true" });
    await here.apply([...configMaps, ...stuckJobs.map(({ job }) => job)]);
    await using reaper = await startReaper(here, ["--allow-reap-exec"]);
    const eventsOf = async ({ name }: StuckJob) => {
      const isPods = new RegExp(`^${name}-[a-z0-9]{5}$`);
      return (await reaperEvents(here)).filter(({ regarding }) => isPods.test(regarding.name));
    };
    for (const one of stuckJobs) {
      const { name, end, event, note = "" } = one;
      if (end !== undefined)
        await here.until(`${name} is ${end}`, async () => hasCondition(await here.job(name), end), LONG_MS);
      const isThere = ({ reason, note: text }: PodEvent) => reason === event && text.includes(note);
      if (event !== undefined)
        await here.until(
          `Event ${event} of ${name}: ${note}`,
          async () => (await eventsOf(one)).some(isThere),
          LONG_MS,
        );
      const lines = (await eventsOf(one)).map((each) => `    ${each.type} ${each.reason}: ${each.note}`);
      console.log([`${name}: ${end ?? "goes on"}`, ...lines].join("\n"));
      if (event === undefined) expect(lines).toEqual([]);
    }
    for (const { name, end } of stuckJobs)
      if (end === undefined) expect([name, hasCondition(await here.job(name), "Complete")]).toEqual([name, false]);
    expect(await reaper.metric("ebb_reaper_attempts_in_progress")).toBe(0);
  },
  TEST_MS,
);
