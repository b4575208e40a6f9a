import { childPath } from "../compiled.ts";
import { inParallel } from "../harness.ts";
import { ableTo, type Candidate, commandLine, ebb, shown } from "./candidates.ts";
import type { Figure, Setup } from "./figure.ts";
import { live } from "./measure.ts";
import { startSidecar } from "./sidecar.ts";
import { median, shuffled } from "./statistics.ts";
import { atMost, noTarget, number, type Table, targetColumns, versus } from "./table.ts";

const LIMIT_MS = 10;
const CPU_LIMIT_PERCENT = 1;
const WIDTH = 4;

/** The times after which the sidecar is ready, spread so that no tool's own rhythm decides. */
const WAITS = [
  { name: "0.2-0.4 s", fromMs: 200, toMs: 400 },
  { name: "1.5-2.5 s", fromMs: 1500, toMs: 2500 },
  { name: "9-10 s", fromMs: 9000, toMs: 10_000 },
] as const;

interface Case {
  readonly candidate: Candidate;
  readonly wait: (typeof WAITS)[number];
  readonly until: "unready" | "refused";
}

interface Result extends Case {
  readonly ms: number;
  /** The processor time in % of one core, the tool's start and end included. */
  readonly cpuPercent: number;
}

/** Measures how late a tool notices that the sidecar is ready, and what the wait costs. */
export const readyToStart: Figure = {
  name: "ready-to-start",
  async run(setup) {
    const cases = casesOf(setup);
    const able = ableTo("leave", [ebb, ...setup.rivals]);
    const runs = cases.flatMap((one) => Array<Case>(timesOf(one.candidate, setup)).fill(one));
    const results = await inParallel(longestFirst(runs), measureOnce, WIDTH);
    const times = `${timesOf(ebb, setup)} of each, rivals fewer, ${WIDTH} at a time`;
    const longest = cases.at(-1)?.wait;
    const titled = { how: [times, ...shown("leave", able, "child clock 0 0")], rival: able[1] };
    return [
      latencyTable(cases, results, titled),
      costTable(
        cases.filter(({ wait }) => wait === longest),
        results,
        titled,
      ),
    ];
  },
};

function timesOf(candidate: Candidate, { isQuick }: Setup): number {
  if (candidate === ebb) return isQuick ? 4 : 10;
  return isQuick ? 1 : 5;
}

function casesOf({ rivals, isQuick }: Setup): readonly Case[] {
  const able = ableTo("leave", [ebb, ...rivals]);
  const waits = isQuick ? WAITS.slice(0, 2) : WAITS;
  const ways = ["unready", "refused"] as const;
  return waits.flatMap((wait) => ways.flatMap((until) => able.map((candidate): Case => ({ candidate, wait, until }))));
}

/** Orders the runs, in random order but the longest first, so that these do not run alone at the end. */
function longestFirst(runs: readonly Case[]): readonly Case[] {
  return shuffled(runs).sort((a, b) => b.wait.toMs - a.wait.toMs);
}

async function measureOnce(one: Case): Promise<Result> {
  await using sidecar = startSidecar();
  const { fromMs, toMs } = one.wait;
  const url = await sidecar.open(Math.round(fromMs + Math.random() * (toMs - fromMs)), one.until);
  const life = await live(commandLine(one.candidate, "leave", url, [childPath(), "clock", "0", "0"]));
  const { readyNs } = await sidecar.close();
  const ms = (life.childStartNs - readyNs) / 1e6;
  return { ...one, ms, cpuPercent: (life.cpuUs * 1000 * 100) / (life.endNs - life.startNs) };
}

interface Titled {
  readonly how: readonly string[];
  readonly rival: Candidate | undefined;
}

function latencyTable(cases: readonly Case[], results: readonly Result[], { how, rival }: Titled): Table {
  const row = (one: Case): readonly string[] => {
    const ms = of(one, results, "ms");
    const target = one.candidate === ebb ? atMost(LIMIT_MS, " ms", median(ms)) : noTarget;
    const ratio = rival && median(ms) / median(of({ ...one, candidate: rival }, results, "ms"));
    return [...caseCells(one), number(median(ms)), number(Math.max(...ms)), number(ratio ?? Number.NaN), ...target];
  };
  return {
    title: "ready: the sidecar turns ready -> the child has started, ms",
    shows: how,
    columns: ["", "ready after", "until then", "median", "max", versus("median", rival), ...targetColumns],
    rows: cases.map(row),
  };
}

function costTable(cases: readonly Case[], results: readonly Result[], { rival }: Titled): Table {
  const row = (one: Case): readonly string[] => {
    const percent = median(of(one, results, "cpuPercent"));
    const target = one.candidate === ebb ? atMost(CPU_LIMIT_PERCENT, " %", percent) : noTarget;
    const ratio = rival && percent / median(of({ ...one, candidate: rival }, results, "cpuPercent"));
    return [...caseCells(one), number(percent), number(ratio ?? Number.NaN), ...target];
  };
  return {
    title: "ready: processor time while waiting, start and end included, % of one core",
    shows: ["in the same runs, the longest"],
    columns: ["", "ready after", "until then", "median", versus("median", rival), ...targetColumns],
    rows: cases.map(row),
  };
}

function of(one: Case, results: readonly Result[], key: "ms" | "cpuPercent"): readonly number[] {
  return results
    .filter(({ candidate, wait, until }) => candidate === one.candidate && wait === one.wait && until === one.until)
    .map((result) => result[key]);
}

function caseCells({ candidate, wait, until }: Case): readonly string[] {
  return [candidate.name, wait.name, until === "unready" ? "answers 503" : "refuses"];
}
