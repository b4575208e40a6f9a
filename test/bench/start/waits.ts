import { readdirSync, readFileSync } from "node:fs";
import { childPath } from "../../harness/compiled.ts";
import { inParallel, until } from "../../harness/ebb.ts";
import { childrenOf } from "../../harness/processes.ts";
import { takes } from "../../harness/time.ts";
import { ableTo, type Candidate, commandLine } from "../candidates.ts";
import { start } from "../measure.ts";
import { startSidecar } from "../sidecar.ts";
import { shuffled } from "../statistics.ts";
import { type Goal, isEbb, type Row, type Values } from "./row.ts";

const STARTED_MS = 300;
const BEFORE_READY_MS = 100;
const WIDTH = 4;

const ways = { unready: "that answers 503", refused: "that refuses" } as const;
type Way = keyof typeof ways;

interface Wait {
  readonly candidate: Candidate;
  readonly way: Way;
  readonly lateMs: number;
  /** The processor time between the start and the sidecar's being ready, in % of one core. */
  readonly cpuPercent: number;
}

/** Measures what a wait costs, and how late its end is noticed: four at a time, each beside a sidecar of its own. */
export async function measureWaits(
  tools: readonly Candidate[],
  times: number,
  waitMs: number,
): Promise<readonly Row[]> {
  const runs = ableTo("leave", tools).flatMap((candidate) =>
    (["unready", "refused"] as const).flatMap((way) =>
      Array.from({ length: isEbb(candidate) ? times : 2 }, () => ({ candidate, way })),
    ),
  );
  const waits = await inParallel(shuffled(runs), (run) => measureOnce(run.candidate, run.way, waitMs), WIDTH);
  const row = (what: string, way: Way, key: "cpuPercent" | "lateMs", goal: Goal): Row => ({
    what: `${what} ${ways[way]}`,
    values: valuesOf(waits, way, key),
    goals: [goal],
  });
  return [
    row("processor while waiting, % of a core, for one", "unready", "cpuPercent", { atMost: 1 }),
    row("processor while waiting, % of a core, for one", "refused", "cpuPercent", { atMost: 1 }),
    row("ready -> start, ms, of one", "unready", "lateMs", { atMost: 10 }),
    row("ready -> start, ms, of one", "refused", "lateMs", { atMost: 10 }),
  ];
}

function valuesOf(waits: readonly Wait[], way: Way, key: "cpuPercent" | "lateMs"): Values {
  const each = Object.groupBy(
    waits.filter((wait) => wait.way === way),
    ({ candidate }) => candidate.name,
  );
  return Object.fromEntries(Object.entries(each).map(([name, of = []]) => [name, of.map((wait) => wait[key])]));
}

async function measureOnce(candidate: Candidate, way: Way, waitMs: number): Promise<Wait> {
  await using sidecar = startSidecar();
  const readyInMs = waitMs + Math.round(Math.random() * 50);
  const url = await sidecar.open(readyInMs, way);
  const living = start(commandLine(candidate, "leave", url, [childPath(), "clock", "0", "0"]));
  const tool = await until("the tool runs", () => childrenOf(living.pid)[0]);
  await takes(STARTED_MS);
  const [usedNs, at] = [cpuNs(tool), performance.now()];
  await takes(waitMs - STARTED_MS - BEFORE_READY_MS);
  const cpuPercent = (cpuNs(tool) - usedNs) / 1e4 / (performance.now() - at);
  const life = await living.ended;
  const { readyNs } = await sidecar.close();
  return { candidate, way, lateMs: (life.childStartNs - readyNs) / 1e6, cpuPercent };
}

/** Returns the processor time, in ns, of all threads of a process. */
function cpuNs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.reduce(
    (sum, id) => sum + Number.parseInt(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8"), 10),
    0,
  );
}
