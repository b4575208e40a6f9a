import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, until } from "../harness/ebb.ts";
import { type Candidate, type CommandLine, commandLine, ebb } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { type Life, live } from "./measure.ts";
import { place } from "./start/place.ts";
import { median, shuffled } from "./statistics.ts";
import { number, type Table } from "./table.ts";

const LIMITS_MIB = [16, 32, 64, 96, 128];
const MIB = 2 ** 20;
/** By the kernel, for want of memory, or by stopwatch.c after two minutes. */
const KILLED = 137;

/** A limit of a container: what is written to which file of its control group, version 2 or 1. */
interface Limit {
  readonly name: string;
  readonly controller: "memory" | "cpu";
  readonly files: Readonly<Record<string, string>>;
}

const memoryLimits = LIMITS_MIB.map((mib): Limit => {
  const bytes = String(mib * MIB);
  return { name: `${mib} MiB`, controller: "memory", files: { "memory.max": bytes, "memory.limit_in_bytes": bytes } };
});

/** A limit of 100m as the kubelet sets it, and none. */
const cpuLimits: readonly Limit[] = [
  { name: "none", controller: "cpu", files: {} },
  { name: "100m", controller: "cpu", files: { "cpu.max": "10000 100000", "cpu.cfs_quota_us": "10000" } },
];

/** A life, and in how many periods it was throttled, of how many. */
interface Limited extends Life {
  readonly throttled: number;
  readonly periods: number;
}

interface Result {
  readonly limit: Limit;
  readonly candidate: Candidate;
  readonly copy: Limited;
  /** The first start of the copy; only measured by memory limit. */
  readonly start: Limited | undefined;
}

/**
 * Measures `ebb install`, by CPU limit, and with the first start of the copy by memory limit, in control groups as a
 * container's, beside other ebbs (--rival ebb-old=PATH). Needs root.
 */
export const install: Figure = {
  name: "install",
  async run({ isQuick, rivals }) {
    using folder = temporaryFolder();
    const ebbs = [ebb, ...rivals.filter(({ kind }) => kind === ebb.kind)];
    const placed = ebbs.map((one) => ({ ...one, path: place(one.path, folder.path, one.name) }));
    const times = isQuick ? 3 : 9;
    const pairs = [...cpuLimits, ...memoryLimits].flatMap((limit) => placed.map((candidate) => ({ limit, candidate })));
    const results: Result[] = [];
    for (const { limit, candidate } of shuffled(pairs.flatMap((pair) => Array<(typeof pairs)[0]>(times).fill(pair))))
      results.push(await measureOnce(candidate, limit, folder.path, killedStart(results, limit, candidate.name)));
    const shows = [
      `medians of ${times} of each, in a random order; -: killed, for want of memory or after two minutes`,
    ];
    return [byCpu(results, placed, shows), byMemory(results, placed, shows)];
  },
};

function byCpu(results: readonly Result[], ebbs: readonly Candidate[], shows: readonly string[]): Table {
  return {
    title: "install: the copy, by the CPU limit",
    shows: [...shows, "throttled: in so many of its periods of 100 ms", `ratios are to ${ebb.name}`],
    columns: ["limit", "tool", "install, ms", "ratio", "CPU, ms", "ratio", "throttled", "periods"],
    rows: cpuLimits.flatMap((limit) =>
      ebbs.map(({ name }) => {
        const of = (value: (life: Limited) => number, tool = name) =>
          median(ownOf(results, limit, tool).map(({ copy }) => value(copy)));
        const pair = (value: (life: Limited) => number) => [of(value), of(value) / of(value, ebb.name)].map(number);
        const counts = [({ throttled }: Limited) => throttled, ({ periods }: Limited) => periods];
        const times = [...pair(msOf), ...pair(({ cpuUs }) => cpuUs / 1000)];
        return [limit.name, name, ...times, ...counts.map((count) => String(of(count)))];
      }),
    ),
  };
}

function byMemory(results: readonly Result[], ebbs: readonly Candidate[], shows: readonly string[]): Table {
  return {
    title: "install: the copy, and the first start of the copy, by the memory limit of both",
    shows: [...shows, "a start that reads from the disk depends on its read-ahead: /sys/block/*/queue/read_ahead_kb"],
    columns: ["limit", "tool", "install, ms", "CPU, ms", "run -- true, ms", "read for it, MB"],
    rows: memoryLimits.flatMap((limit) =>
      ebbs.map(({ name }) => {
        const cell = (value: (of: Result) => number) => number(median(ownOf(results, limit, name).map(value)));
        return [
          ...[limit.name, name, cell(({ copy }) => msOf(copy)), cell(({ copy }) => copy.cpuUs / 1000)],
          cell(({ start }) => (start === undefined ? Number.NaN : msOf(start))),
          cell(({ start }) => (start?.readBytes ?? Number.NaN) / 1e6),
        ];
      }),
    ),
  };
}

function ownOf(results: readonly Result[], limit: Limit, tool: string): readonly Result[] {
  return results.filter((one) => one.limit === limit && one.candidate.name === tool);
}

/** Returns the start that was killed, if one was: another would take two minutes to show the same. */
function killedStart(results: readonly Result[], limit: Limit, tool: string): Limited | undefined {
  return ownOf(results, limit, tool).find(({ start }) => start?.code === KILLED)?.start;
}

async function measureOnce(candidate: Candidate, limit: Limit, folder: string, killed?: Limited): Promise<Result> {
  const path = join(folder, "copy");
  const copy = await liveWithin({ words: [candidate.path, "install", path], env: {} }, limit);
  const line = commandLine({ ...candidate, path }, "none", "", ["true"]);
  const start = killed ?? (limit.controller === "memory" ? await liveWithin(line, limit) : undefined);
  rmSync(path, { force: true }); // there is none if the copying was killed
  return { limit, candidate, copy, start };
}

function msOf({ startNs, endNs, code }: Life): number {
  return code === 0 ? (endNs - startNs) / 1e6 : Number.POSITIVE_INFINITY;
}

/** Runs a tool to its end in a control group of its own, version 1 or 2, with a limit. */
async function liveWithin(line: CommandLine, { name, controller, files }: Limit): Promise<Limited> {
  const root = [`/sys/fs/cgroup/${controller}`, "/sys/fs/cgroup"].find(existsSync) ?? "";
  const group = join(root, `ebb-bench-${crypto.randomUUID()}`);
  mkdirSync(group);
  try {
    const there = Object.entries(files).filter(([file]) => existsSync(join(group, file)));
    if (there.length === 0 && Object.keys(files).length > 0)
      throw new Error(`${group} has no ${controller} controller`);
    for (const [file, value] of there) writeFileSync(join(group, file), value);
    const life = await live(line, "silent", join(group, "cgroup.procs"));
    if (life.code !== 0 && life.code !== KILLED)
      throw new Error(`${line.words.join(" ")}: exit code ${life.code} with the limit ${name}`);
    return { ...life, throttled: countIn(group, "nr_throttled"), periods: countIn(group, "nr_periods") };
  } finally {
    await until("the control group is empty", () => isRemoved(group));
  }
}

/** Reads a count of a group's cpu.stat; 0 if it has none. */
function countIn(group: string, name: string): number {
  const file = join(group, "cpu.stat");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

function isRemoved(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false; // a process that is ending still counts
  }
}
