import { childPath } from "../harness.ts";
import { ableTo, type Candidate, childAlone, commandLine, ebb, shown, type Task } from "./candidates.ts";
import type { Figure, Setup } from "./figure.ts";
import { live } from "./measure.ts";
import { startSidecar } from "./sidecar.ts";
import { median, quantile, shuffled } from "./statistics.ts";
import { atMost, noTarget, number, type Table, targetColumns, versus } from "./table.ts";

const LIMIT = 1.5;

/** The whole life of a tool whose child ends at once. */
export const startUp: Figure = {
  name: "start-up",
  async run(setup) {
    await using sidecar = startSidecar();
    const url = await sidecar.open(0);
    return [
      await measure("start-up: whole life beside a sidecar that is ready, and left alone", "leave", url, setup),
      await measure("start-up: whole life without a sidecar", "none", url, setup),
    ];
  },
};

interface Entry {
  readonly candidate: Candidate;
  readonly ms: number[];
  failed: number;
}

async function measure(title: string, task: Task, url: string, { rivals, isQuick }: Setup): Promise<Table> {
  const able = ableTo(task, [ebb, ...rivals, childAlone]);
  const entries = able.map((candidate): Entry => ({ candidate, ms: [], failed: 0 }));
  const rounds = isQuick ? 60 : 400;
  for (let round = 0; round < rounds; round++)
    for (const entry of shuffled(entries)) await measureOnce(entry, task, url);
  const rival = entries[1];
  const what = `${rounds} rounds, each runs all in a random order; ms; output to /dev/null`;
  return {
    title,
    shows: [what, ...shown(task, able, "child exit 0")],
    columns: ["", "min", "median", "p95", versus("median", rival?.candidate), versus("min", rival?.candidate)].concat(
      "wrong codes",
      targetColumns,
    ),
    rows: entries.map((entry) => row(entry, rival?.ms ?? [], task === "leave")),
  };
}

async function measureOnce(entry: Entry, task: Task, url: string): Promise<void> {
  const line = commandLine(entry.candidate, task, url, [childPath(), "exit", "0"]);
  const life = await live(line, "silent");
  if (life.code === 0) entry.ms.push((life.endNs - life.startNs) / 1e6);
  else entry.failed++;
}

function row({ candidate, ms, failed }: Entry, rival: readonly number[], hasTarget: boolean): readonly string[] {
  const ratio = median(ms) / median(rival);
  return [
    candidate.name,
    number(quantile(ms, 0)),
    number(median(ms)),
    number(quantile(ms, 0.95)),
    number(ratio),
    number(quantile(ms, 0) / quantile(rival, 0)),
    `${failed}`,
    ...(hasTarget && candidate === ebb ? atMost(LIMIT, " x", ratio) : noTarget),
  ];
}
