import { childPath } from "../harness.ts";
import { ableTo, type Candidate, commandLine, ebb, shown } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { live } from "./measure.ts";
import { type Sidecar, startSidecar } from "./sidecar.ts";
import { median, quantile, shuffled } from "./statistics.ts";
import { atMost, noTarget, number, targetColumns, versus } from "./table.ts";

const QUIT_LIMIT_MS = 2;
const EXIT_LIMIT_MS = 3;
const CHILD_LIFE_US = "20000";

interface Entry {
  readonly candidate: Candidate;
  readonly quit: number[];
  readonly exit: number[];
}

/** From the child's end to the quit, and from the quit's answer to the tool's end. */
export const exitToQuit: Figure = {
  name: "exit-to-quit",
  async run({ rivals, isQuick }) {
    await using sidecar = startSidecar();
    const able = ableTo("quit", [ebb, ...rivals]);
    const entries = able.map((candidate): Entry => ({ candidate, quit: [], exit: [] }));
    const rounds = isQuick ? 30 : 200;
    for (let round = 0; round < rounds; round++)
      for (const entry of shuffled(entries)) await measureOnce(entry, sidecar);
    const what = `${rounds} rounds, each runs all in a random order; ms; the child lives 20 ms; runs: those that quit`;
    const columns = ["", "runs", "median", "p95", "max", versus("median", able[1]), ...targetColumns];
    const rows = (way: "quit" | "exit", limit: number) =>
      entries.map(({ candidate, [way]: ms }) => row(candidate, ms, entries[1]?.[way] ?? [], limit));
    return [
      {
        title: "exit: child's end -> quit request received",
        shows: [what, ...shown("quit", able, `child clock 0 ${CHILD_LIFE_US}`)],
        columns,
        rows: rows("quit", QUIT_LIMIT_MS),
      },
      {
        title: "exit: quit answered, the sidecar gone -> the tool's end seen by its parent",
        shows: ["in the same runs"],
        columns,
        rows: rows("exit", EXIT_LIMIT_MS),
      },
    ];
  },
};

async function measureOnce({ candidate, quit, exit }: Entry, sidecar: Sidecar): Promise<void> {
  const child = [childPath(), "clock", "0", CHILD_LIFE_US];
  const life = await live(commandLine(candidate, "quit", await sidecar.open(0), child));
  const { quitNs, answeredNs } = await sidecar.close();
  if (quitNs === 0) return;
  quit.push((quitNs - life.childEndNs) / 1e6);
  exit.push((life.endNs - answeredNs) / 1e6);
}

function row(candidate: Candidate, ms: readonly number[], rival: readonly number[], limit: number): readonly string[] {
  return [
    candidate.name,
    `${ms.length}`,
    number(median(ms)),
    number(quantile(ms, 0.95)),
    number(Math.max(...ms)),
    number(median(ms) / median(rival)),
    ...(candidate === ebb ? atMost(limit, " ms", median(ms)) : noTarget),
  ];
}
