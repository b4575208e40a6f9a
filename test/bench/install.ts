import { existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, until } from "../harness.ts";
import { type Candidate, type CommandLine, commandLine, ebb } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { type Life, live } from "./measure.ts";
import { place } from "./start/place.ts";
import { median, shuffled } from "./statistics.ts";
import { number } from "./table.ts";

const LIMITS_MIB = [16, 32, 64, 96, 128];
const MIB = 2 ** 20;
/** By the kernel, for want of memory, or by stopwatch.c after two minutes. */
const KILLED = 137;

interface Result {
  readonly limit: number;
  readonly copy: Life;
  readonly start: Life;
}

/** Measures `ebb install`, and the first start of the copy, each in a container's limit of memory. As root. */
export const install: Figure = {
  name: "install",
  async run({ isQuick }) {
    using folder = temporaryFolder();
    const placed = { ...ebb, path: place(ebb.path, folder.path, ebb.name) };
    const times = isQuick ? 3 : 9;
    const results: Result[] = [];
    for (const limit of shuffled(LIMITS_MIB.flatMap((limit) => Array<number>(times).fill(limit))))
      results.push(await measureOnce(placed, limit, folder.path));
    return [
      {
        title: "install: the copy, and the first start of the copy, by the memory limit of both",
        shows: [
          `medians of ${times} of each, in a random order; -: killed, for want of memory or after two minutes`,
          "a start that reads from the disk depends on its read-ahead: /sys/block/*/queue/read_ahead_kb",
        ],
        columns: ["limit, MiB", "install, ms", "CPU, ms", "run -- true, ms", "read for it, MB"],
        rows: LIMITS_MIB.map((limit) => {
          const own = results.filter((one) => one.limit === limit);
          const cell = (value: (of: Result) => number) => number(median(own.map(value)));
          return [
            String(limit),
            cell(({ copy }) => msOf(copy)),
            cell(({ copy }) => copy.cpuUs / 1000),
            cell(({ start }) => msOf(start)),
            cell(({ start }) => start.readBytes / 1e6),
          ];
        }),
      },
    ];
  },
};

async function measureOnce(placed: Candidate, limit: number, folder: string): Promise<Result> {
  const path = join(folder, "copy");
  const copy = await liveWithin({ words: [placed.path, "install", path], env: {} }, limit);
  const start = await liveWithin(commandLine({ ...placed, path }, "none", "", ["true"]), limit);
  rmSync(path);
  return { limit, copy, start };
}

function msOf({ startNs, endNs, code }: Life): number {
  return code === 0 ? (endNs - startNs) / 1e6 : Number.POSITIVE_INFINITY;
}

const memoryRoot = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].find(existsSync) ?? "";

/** Runs a tool to its end in a control group of its own, version 1 or 2, with so many MiB of memory. */
async function liveWithin(line: CommandLine, limit: number): Promise<Life> {
  const group = join(memoryRoot, `ebb-bench-${crypto.randomUUID()}`);
  mkdirSync(group);
  try {
    const file = ["memory.max", "memory.limit_in_bytes"].find((name) => existsSync(join(group, name)));
    writeFileSync(join(group, file ?? "memory.max"), String(limit * MIB));
    const life = await live(line, "silent", join(group, "cgroup.procs"));
    if (life.code !== 0 && life.code !== KILLED)
      throw new Error(`${line.words.join(" ")}: exit code ${life.code} with ${limit} MiB`);
    return life;
  } finally {
    await until("the control group is empty", () => isRemoved(group));
  }
}

function isRemoved(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false; // a process that is ending still counts
  }
}
