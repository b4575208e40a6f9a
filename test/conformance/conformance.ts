// bun test/conformance/conformance.ts [--rival NAME=PATH]... [--only TEXT] runs the cases against dist/ebb (or
// EBB=PATH), and against the given binaries of the tools whose place ebb takes. What those do differently must be a
// difference that differences.ts lists and the case names. The exit code is 0 if nothing else differs, and all that is
// named shows.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ebbPath, inParallel } from "../harness/ebb.ts";
import type { Case } from "./case.ts";
import { cases } from "./cases.ts";
import { type DifferenceId, differences, type Listed } from "./differences.ts";
import { runEbb } from "./ebb.ts";
import { judgeRival, type Verdict } from "./judge.ts";
import { type Pool, startPool, way } from "./pool.ts";
import { type Rival, rivals } from "./rivals.ts";

/** The time for a rival: twice what linkerd-await takes for a poll that hangs, 5 s, and a pause of 1 s. */
const RIVAL_LIMIT_MS = 12_000;
const WIDTH = 8;

const listed: readonly (Listed & { readonly id: DifferenceId })[] = differences;

const { binaries, only } = readArguments();
const chosen = cases.filter(({ name }) => name.includes(only));
await using pool = startPool(WIDTH);
const bad = (await againstEbb(pool)) + (await againstRivals(pool));
process.exitCode = bad === 0 ? 0 : 1;

async function againstEbb(pool: Pool): Promise<number> {
  let failed = 0;
  await inParallel(
    chosen,
    async (given) => {
      const problems = await runEbb(pool, given, [0, 1]);
      if (problems.length === 0) return;
      failed += 1;
      console.log(`ebb: ${given.name}\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    },
    WIDTH,
  );
  console.log(`ebb: ${chosen.length} cases, ${failed} not as expected`);
  return failed;
}

async function againstRivals(pool: Pool): Promise<number> {
  const shown = new Set<DifferenceId>();
  let bad = 0;
  for (const [rival, path] of binaries) {
    const own = chosen.filter((each) => isFor(each, rival));
    let differing = 0;
    await inParallel(
      own,
      async (given) => {
        const outcome = await pool.run({ name: given.name, tool: { words: [path], limitMs: RIVAL_LIMIT_MS } });
        const verdict = judgeRival(given, rival, outcome);
        if (verdict.shown.length > 0) differing += 1;
        for (const id of verdict.shown) shown.add(id);
        if (verdict.chance !== undefined) console.log(`${rival}: ${given.name}\n  by chance: ${verdict.chance}`);
        if (!isBad(verdict)) return;
        bad += 1;
        const missing = verdict.missing.map((id) => `the difference ${id} does not show: ${describe(id)}`);
        console.log(
          `${rival}: ${given.name}\n${[...verdict.unexplained, ...missing].map((line) => `  ${line}`).join("\n")}`,
        );
      },
      WIDTH,
    );
    console.log(`${rival}: ${own.length} cases, ${differing} of them differ as listed`);
  }
  const unseen = only === "" ? notShown(shown) : [];
  for (const id of unseen) console.log(`the difference ${id} shows nowhere: ${describe(id)}`);
  if (binaries.size > 0) console.log(`differences: ${bad + unseen.length} unexplained, or no longer there`);
  return bad + unseen.length;
}

/** Describes a listed difference in one line. */
function describe(id: DifferenceId): string {
  const { rivals: of, theirs, ours, why } = listed.find((each) => each.id === id) as Listed;
  return `${of.join(", ")}: ${theirs}; ebb: ${ours} (${why})`;
}

function isBad({ unexplained, missing }: Verdict): boolean {
  return unexplained.length + missing.length > 0;
}

/** Returns the differences that the given rivals should have shown somewhere, and did not. */
function notShown(shown: ReadonlySet<DifferenceId>): readonly DifferenceId[] {
  return listed
    .filter(
      ({ id, isAtRandom, isOfTime, rivals: of }) =>
        !isAtRandom && !isOfTime && !shown.has(id) && of.every((rival) => binaries.has(rival)),
    )
    .map(({ id }) => id);
}

/** Cases of a tool's name are for the tools of this name. */
function isFor({ as, isOwn }: Case, rival: Rival): boolean {
  if (isOwn) return false;
  return as === rival || (as === "scuttle" && rival === "scuttle-redbox");
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        rival: { type: "string", multiple: true, default: [] },
        only: { type: "string", default: "" },
      },
    });
    if (way === undefined) throw new Error("this needs namespaces of its own: run it as root");
    if (!existsSync(ebbPath)) throw new Error(`${ebbPath} is missing: npm run build`);
    return { binaries: new Map(values.rival.map(parseRival)), only: values.only };
  } catch (error) {
    console.error(`conformance: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(64);
  }
}

function parseRival(text: string): readonly [Rival, string] {
  const [, name = "", path = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const rival = rivals.find((known) => known === name);
  if (rival === undefined)
    throw new Error(`--rival: expected NAME=PATH with NAME one of ${rivals.join(", ")}: ${text}`);
  if (!existsSync(path)) throw new Error(`--rival: no such file: ${path}`);
  return [rival, resolve(path)];
}
