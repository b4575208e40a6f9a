import { childPath } from "../harness/compiled.ts";
import { inParallel } from "../harness/ebb.ts";
import { ableTo, type Candidate, commandLine, ebb, shown } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { live } from "./measure.ts";
import { startSidecar } from "./sidecar.ts";
import { median, shuffled } from "./statistics.ts";
import { number, type Table } from "./table.ts";

const WIDTH = 4;
/** When the proxy is ready, in ms; up to 5 % later by chance, so that no tool's own rhythm decides. */
const READY_MS = [300, 2000, 10_000] as const;

interface Case {
  readonly candidate: Candidate;
  readonly readyMs: number;
}

interface Result extends Case {
  readonly addedMs: number;
}

/** Measures what a tool adds to a Job: the time from the proxy's being ready to the tool's exit, without the child's. */
export const job: Figure = {
  name: "job",
  async run({ rivals, isQuick }) {
    const able = ableTo("quit", [ebb, ...rivals]);
    const times = isQuick ? 3 : 15;
    const waits = isQuick ? READY_MS.slice(0, 2) : READY_MS;
    const runs = waits.flatMap((readyMs) =>
      able.flatMap((candidate) => Array<Case>(times).fill({ candidate, readyMs })),
    );
    const longestFirst = shuffled(runs).sort((a, b) => b.readyMs - a.readyMs);
    const results = await inParallel(longestFirst, measureOnce, WIDTH);
    const how = [`${times} of each, ${WIDTH} at a time`, ...shown("quit", able, "child clock 0 0")];
    return [tableOf(able, waits, results, how)];
  },
};

async function measureOnce({ candidate, readyMs }: Case): Promise<Result> {
  await using sidecar = startSidecar();
  const url = await sidecar.open(Math.round(readyMs * (1 + Math.random() / 20)), "unready");
  const life = await live(commandLine(candidate, "quit", url, [childPath(), "clock", "0", "0"]));
  const { readyNs, quitNs } = await sidecar.close();
  if (quitNs === 0) throw new Error(`${candidate.name} did not quit the sidecar`);
  return { candidate, readyMs, addedMs: (life.endNs - readyNs - (life.childEndNs - life.childStartNs)) / 1e6 };
}

function tableOf(
  able: readonly Candidate[],
  waits: readonly number[],
  results: readonly Result[],
  shows: readonly string[],
): Table {
  const cell = (candidate: Candidate, readyMs: number) =>
    number(
      median(
        results.filter((one) => one.candidate === candidate && one.readyMs === readyMs).map(({ addedMs }) => addedMs),
      ),
    );
  return {
    title: "job: what the tool adds to a Job: the proxy turns ready -> the tool's exit, without the command's life, ms",
    shows,
    columns: ["", ...waits.map((ms) => `ready after ${ms / 1000} s`)],
    rows: able.map((candidate) => [candidate.name, ...waits.map((readyMs) => cell(candidate, readyMs))]),
  };
}
