import { childPath } from "../harness.ts";
import type { Figure, Setup } from "./bench.ts";
import { type Candidate, childAlone, commandLine, ebb, shown, type Task } from "./candidates.ts";
import { live } from "./measure.ts";
import { startSidecar } from "./sidecar.ts";
import { median, quantile, shuffled } from "./statistics.ts";
import { atMost, noTarget, number, type Table, targetColumns } from "./table.ts";

const LIMIT = 1.5;

/** The whole life of a tool whose child ends at once. */
export const startUp: Figure = {
  name: "start-up",
  async run(setup) {
    await using sidecar = startSidecar();
    const url = await sidecar.open(0);
    const beside = await measure("start-up: whole life, the sidecar ready, and left alone", "leave", url, setup);
    const alone = await measure("start-up: whole life, no sidecar", "none", url, setup);
    return [beside, alone];
  },
};

async function measure(title: string, task: Task, url: string, { rivals, isQuick }: Setup): Promise<Table> {
  const child = [childPath(), "exit", "0"];
  const lines = [ebb, ...rivals, childAlone].flatMap((candidate) => {
    const line = commandLine(candidate, task, url, child);
    return line === undefined ? [] : [{ candidate, line, ms: [] as number[] }];
  });
  const rounds = isQuick ? 60 : 400;
  for (let round = 0; round < rounds; round++) {
    for (const { line, ms } of shuffled(lines)) {
      const life = await live(line);
      if (life.code !== 0) throw new Error(`exit code ${life.code}: ${shown(line)}`);
      ms.push((life.endNs - life.startNs) / 1e6);
    }
  }
  const rival = lines[1];
  return {
    title,
    shows: [
      `${rounds} rounds, each runs all in a random order; ms; stderr to /dev/null`,
      ...lines.map(({ line }) => shown(line)),
    ],
    columns: ["", "min", "median", "p95", `median/${rival?.candidate.name}`, `min/${rival?.candidate.name}`, ...targetColumns],
    rows: lines.map(({ candidate, ms }) => row(candidate, ms, rival?.ms ?? [], task === "leave")),
  };
}

function row(candidate: Candidate, ms: readonly number[], rival: readonly number[], hasTarget: boolean): string[] {
  const ratio = median(ms) / median(rival);
  return [
    candidate.name,
    number(Math.min(...ms)),
    number(median(ms)),
    number(quantile(ms, 0.95)),
    number(ratio),
    number(Math.min(...ms) / Math.min(...rival)),
    ...(hasTarget && candidate === ebb && rival.length > 0 ? atMost(LIMIT, "", ratio) : noTarget),
  ];
}
