import { readdirSync, readFileSync } from "node:fs";
import { childPath, childrenOf, until } from "../harness.ts";
import { ableTo, type Candidate, commandLine, ebb, shown } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { start } from "./measure.ts";
import { startSidecar } from "./sidecar.ts";
import { median } from "./statistics.ts";
import { atMost, noTarget, number, type Table, targetColumns } from "./table.ts";

const LIMIT_MB = 2.6;

interface Use {
  readonly rssAnon: number;
  readonly pssAnon: number;
  readonly rssFile: number;
  readonly threads: readonly string[];
}

/** What a tool holds while its child runs. */
export const memory: Figure = {
  name: "memory",
  async run({ rivals, isQuick }) {
    const times = isQuick ? 2 : 5;
    const rows: string[][] = [];
    for (const candidate of [ebb, ...rivals]) rows.push(await measure(candidate, 0, times));
    rows.push(await measure(ebb, 5000, times));
    return [table(rows, times, rivals)];
  },
};

function table(rows: Table["rows"], times: number, rivals: readonly Candidate[]): Table {
  return {
    title: "memory: 1 s after the child's start",
    shows: [
      `median of ${times} at the same time; MB of 10^6 bytes, from /proc/PID/status and smaps_rollup`,
      ...shown("quit", ableTo("quit", [ebb, ...rivals]), "child record"),
    ],
    columns: ["", "RssAnon", "Pss_Anon", "RssFile", "threads", "their names", ...targetColumns],
    rows,
  };
}

async function measure(candidate: Candidate, readyInMs: number, times: number): Promise<string[]> {
  await using sidecar = startSidecar();
  const url = await sidecar.open(readyInMs);
  const uses = await Promise.all(Array.from({ length: times }, () => measureOnce(candidate, url)));
  const middle = (key: "rssAnon" | "pssAnon" | "rssFile") => median(uses.map((use) => use[key]));
  const threads = uses[0]?.threads ?? [];
  return [
    readyInMs === 0 ? candidate.name : `${candidate.name}, waited ${readyInMs / 1000} s`,
    number(middle("rssAnon")),
    number(middle("pssAnon")),
    number(middle("rssFile")),
    `${threads.length}`,
    counted(threads),
    ...(candidate === ebb ? atMost(LIMIT_MB, " MB anon", middle("rssAnon")) : noTarget),
  ];
}

async function measureOnce(candidate: Candidate, url: string): Promise<Use> {
  const task = ableTo("quit", [candidate]).length > 0 ? "quit" : "none";
  const living = start(commandLine(candidate, task, url, [childPath(), "record"]));
  await until("the child runs", () => /^ready$/m.test(living.stdout()), 30_000);
  await Bun.sleep(1000);
  const [pid] = childrenOf(living.pid);
  if (pid === undefined) throw new Error(`${candidate.name} is gone`);
  const use = readUse(pid);
  process.kill(pid, "SIGTERM");
  await living.ended;
  return use;
}

function readUse(pid: number): Use {
  const read = (file: string, field: string) => {
    const [, kib = "NaN"] =
      new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/${file}`, "utf8")) ?? [];
    return (Number(kib) * 1024) / 1e6;
  };
  return {
    rssAnon: read("status", "RssAnon"),
    pssAnon: read("smaps_rollup", "Pss_Anon"),
    rssFile: read("status", "RssFile"),
    threads: readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, "utf8").trim()),
  };
}

/** `scuttle x8, other`. */
function counted(names: readonly string[]): string {
  const groups = Map.groupBy(names, (name) => name);
  return [...groups].map(([name, { length }]) => (length === 1 ? name : `${name} x${length}`)).join(", ");
}
