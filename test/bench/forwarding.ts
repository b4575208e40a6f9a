import { availableParallelism } from "node:os";
import { childPath } from "../harness/compiled.ts";
import { ableTo, type Candidate, commandLine, ebb, shown } from "./candidates.ts";
import type { Figure, Setup } from "./figure.ts";
import { live } from "./measure.ts";
import { programPath } from "./programs.ts";
import { median, quantile, shuffled } from "./statistics.ts";
import { atMost, noTarget, number, type Table, targetColumns, versus } from "./table.ts";

const LIMIT_MS = 1;
const SIGNALS = 50;
const ORPHANS = 10_000;

/** Measures what an init process has to do quickly: to forward signals, and to reap. */
export const inits: Figure = {
  name: "inits",
  async run(setup) {
    const idle = await measureLatency("a signal's way to the child, idle", setup);
    return [idle, await measureBusy(setup), await measureOrphans(setup)];
  },
};

async function measureBusy(setup: Setup): Promise<Table> {
  using _ = keepBusy(availableParallelism());
  return await measureLatency("a signal's way to the child, each processor busy with another program", setup);
}

function keepBusy(processors: number): Disposable {
  const loops = Array.from({ length: processors }, () => Bun.spawn(["sh", "-c", "while :; do :; done"]));
  return {
    [Symbol.dispose]() {
      for (const loop of loops) loop.kill("SIGKILL");
    },
  };
}

interface Entry {
  readonly candidate: Candidate;
  readonly ms: number[];
}

async function measureLatency(title: string, { rivals, isQuick }: Setup): Promise<Table> {
  const able = ableTo("none", [ebb, ...rivals]);
  const entries = able.map((candidate): Entry => ({ candidate, ms: [] }));
  const rounds = isQuick ? 2 : 20;
  for (let round = 0; round < rounds; round++)
    for (const { candidate, ms } of shuffled(entries)) ms.push(...(await sendSignals(candidate)));
  const rival = entries[1];
  const what = `${rounds * SIGNALS} signals each, ${SIGNALS} at a time in a random order; ms from kill(2) to the child's handler`;
  return {
    title,
    shows: [what, "SCUTTLE_LOGGING=false", ...shown("none", able, "latency child")],
    columns: ["", "median", "p95", "max", versus("median", rival?.candidate), ...targetColumns],
    rows: entries.map(({ candidate, ms }) => [
      candidate.name,
      number(median(ms)),
      number(quantile(ms, 0.95)),
      number(Math.max(...ms)),
      number(median(ms) / median(rival?.ms ?? [])),
      ...(candidate === ebb ? atMost(LIMIT_MS, " ms", median(ms)) : noTarget),
    ]),
  };
}

/** Silences scuttle, whose log goes to stdout, among the times. */
const quiet = { SCUTTLE_LOGGING: "false" };

async function sendSignals(candidate: Candidate): Promise<readonly number[]> {
  const program = programPath("latency");
  const { words, env } = commandLine(candidate, "none", "", [program, "child"]);
  const { stdout, exited } = Bun.spawn([program, `${SIGNALS}`, ...words], {
    env: { PATH: process.env.PATH ?? "", ...env, ...quiet },
    stdin: "ignore",
    stderr: "ignore",
  });
  const lines = (await stdout.text()).trim().split("\n");
  if ((await exited) !== 0 || lines.length !== SIGNALS) throw new Error(`${candidate.name} forwards nothing`);
  return lines.map((line) => Number(line) / 1e6);
}

/** Measures reaping as PID 1, as which all tools reap. */
async function measureOrphans({ rivals, isQuick }: Setup): Promise<Table> {
  const able = ableTo("none", [ebb, ...rivals]);
  const entries = able.map((candidate): Entry => ({ candidate, ms: [] }));
  const rounds = isQuick ? 2 : 7;
  for (let round = 0; round < rounds; round++)
    for (const { candidate, ms } of shuffled(entries)) ms.push(await leaveOrphans(candidate));
  const rival = entries[1];
  return {
    title: `${ORPHANS} orphans made one after the other and reaped, as PID 1`,
    shows: [`${rounds} rounds in a random order; whole life in ms`, ...shown("none", able, "child orphans 10000 0")],
    columns: ["", "min", "median", versus("median", rival?.candidate)],
    rows: entries.map(({ candidate, ms }) => [
      candidate.name,
      number(quantile(ms, 0)),
      number(median(ms)),
      number(median(ms) / median(rival?.ms ?? [])),
    ]),
  };
}

async function leaveOrphans(candidate: Candidate): Promise<number> {
  const { words, env } = commandLine(candidate, "none", "", [childPath(), "orphans", `${ORPHANS}`, "0"]);
  const unshare = Bun.which("unshare") ?? "unshare";
  const life = await live({ words: [unshare, "--pid", "--fork", "--mount-proc", ...words], env }, "silent");
  return life.code === 0 ? (life.endNs - life.startNs) / 1e6 : Number.NaN;
}
