import { readdirSync, readFileSync } from "node:fs";
import { childPath } from "../../harness/compiled.ts";
import { until } from "../../harness/ebb.ts";
import { childrenOf, memoryOf } from "../../harness/processes.ts";
import { takes } from "../../harness/time.ts";
import { ableTo, type Candidate, type CommandLine, commandLine } from "../candidates.ts";
import { type Living, start } from "../measure.ts";
import { startSidecar } from "../sidecar.ts";
import type { Bare } from "./bare.ts";
import { BARE, isEbb, type Row, type Values } from "./row.ts";

interface Use {
  readonly rssAnonMb: number;
  readonly pssMb: number;
  readonly threads: number;
}

const SETTLED_MS = 1000;
const WAITED_MS = 5000;
const CHILD = [childPath(), "record"];

/**
 * Measures what a tool holds while its child runs: a few at a time, and `pods` that share one file, as those of a node
 * do.
 */
export async function measurePods(bare: Bare, tools: readonly Candidate[], pods: number): Promise<readonly Row[]> {
  const lines = (url: string): Lines => ({
    ...linesOf(ableTo("quit", tools), url),
    [BARE]: { words: [bare.spawn, ...CHILD], env: {} },
  });
  const few = await usesOf(lines, 3, 0);
  const waited = await usesOf((url) => linesOf(tools.filter(isEbb), url), 3, WAITED_MS);
  const many = await usesOf(lines, pods, 0);
  return [
    { what: "RssAnon while the child runs, MB", values: pick(few, "rssAnonMb"), goals: [{ atMost: 2.3 }] },
    { what: `the same, after ${WAITED_MS / 1000} s of waiting, MB`, values: pick(waited, "rssAnonMb") },
    { what: `Pss of each of ${pods} pods, MB`, values: pick(many, "pssMb") },
    { what: "threads", values: pick(few, "threads") },
  ];
}

type Lines = Readonly<Record<string, CommandLine>>;
type Uses = ReadonlyMap<string, readonly Use[]>;

function linesOf(tools: readonly Candidate[], url: string): Lines {
  return Object.fromEntries(tools.map((tool) => [tool.name, commandLine(tool, "quit", url, CHILD)]));
}

function pick(uses: Uses, key: keyof Use): Values {
  return Object.fromEntries([...uses].map(([name, each]) => [name, each.map((use) => use[key])]));
}

async function usesOf(lines: (url: string) => Lines, count: number, readyInMs: number): Promise<Uses> {
  const uses = new Map<string, readonly Use[]>();
  for (const name of Object.keys(lines(""))) {
    await using sidecar = startSidecar();
    const line = lines(await sidecar.open(readyInMs))[name];
    if (line !== undefined) uses.set(name, await together(line, count));
  }
  return uses;
}

/** Starts `count` tools at the same time, each with a child, reads their memory after 1 s, and kills them. */
async function together(line: CommandLine, count: number): Promise<readonly Use[]> {
  const lives = Array.from({ length: count }, () => start(line));
  for (const [at, { stdout }] of lives.entries())
    await until(`child ${at + 1} of ${count} of ${line.words[0]} runs`, () => /^ready$/m.test(stdout()), 30_000);
  await takes(SETTLED_MS);
  const pids = lives.map(toolOf);
  const uses = pids.map(readUse);
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await Promise.all(lives.map(({ ended }) => ended));
  return uses;
}

function toolOf({ pid }: Living): number {
  const [tool] = childrenOf(pid);
  if (tool === undefined) throw new Error("a tool is gone before its child");
  return tool;
}

function readUse(pid: number): Use {
  const [, pss] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
  return {
    rssAnonMb: memoryOf(pid, "RssAnon") / 1e6,
    pssMb: (Number(pss) * 1024) / 1e6,
    threads: readdirSync(`/proc/${pid}/task`).length,
  };
}
