import { childPath, inParallel } from "../harness.ts";
import { ableTo, type Candidate, commandLine, ebb, shown } from "./candidates.ts";
import type { Figure } from "./figure.ts";
import { live } from "./measure.ts";
import { startSidecar } from "./sidecar.ts";
import { median, shuffled } from "./statistics.ts";
import { atMost, noTarget, number, targetColumns } from "./table.ts";

const LIMIT_MS = 10;
const WAITS_MS = [300, 2000, 10_000] as const;
const WIDTH = 4;

interface Case {
  readonly candidate: Candidate;
  readonly waitMs: number;
  readonly until: "unready" | "refused";
}

interface Result extends Case {
  readonly ms: number;
  /** Of one core, its start and end included. */
  readonly cpuPercent: number;
}

/** How late a tool notices that the sidecar is ready, and what the wait costs. */
export const readyToStart: Figure = {
  name: "ready-to-start",
  async run({ rivals, isQuick }) {
    const times = isQuick ? 2 : 8;
    const able = ableTo("leave", [ebb, ...rivals]);
    const waits = isQuick ? WAITS_MS.slice(0, 2) : WAITS_MS;
    const cases = waits.flatMap((waitMs) =>
      (["unready", "refused"] as const).flatMap((until) => able.map((candidate) => ({ candidate, waitMs, until }))),
    );
    const runs = Array.from({ length: times }, () => cases).flat();
    const results = await inParallel(longestFirst(runs), measureOnce, WIDTH);
    return [
      {
        title: "ready: the sidecar turns ready -> the child has started",
        shows: [
          `${times} of each, ${WIDTH} at a time; ms; cpu: % of one core over the whole life`,
          ...shown("leave", able, "child clock 0 0"),
        ],
        columns: [
          "",
          "ready after",
          "until then",
          "median",
          "max",
          `median/${able[1]?.name}`,
          "cpu %",
          ...targetColumns,
        ],
        rows: cases.map((one) => row(one, results, able[1])),
      },
    ];
  },
};

/** So that the long ones do not run alone at the end. */
function longestFirst(runs: readonly Case[]): readonly Case[] {
  return shuffled(runs).sort((a, b) => b.waitMs - a.waitMs);
}

async function measureOnce(one: Case): Promise<Result> {
  await using sidecar = startSidecar();
  const child = [childPath(), "clock", "0", "0"];
  const line = commandLine(one.candidate, "leave", await sidecar.open(one.waitMs, one.until), child);
  const life = await live(line);
  const { readyNs } = await sidecar.close();
  return {
    ...one,
    ms: (life.childStartNs - readyNs) / 1e6,
    cpuPercent: (life.cpuUs * 1000 * 100) / (life.endNs - life.startNs),
  };
}

function row({ candidate, waitMs, until }: Case, results: readonly Result[], rival: Candidate | undefined): string[] {
  const of = (who: Candidate | undefined) =>
    results.filter((result) => result.candidate === who && result.waitMs === waitMs && result.until === until);
  const ms = of(candidate).map((result) => result.ms);
  return [
    candidate.name,
    `${waitMs / 1000} s`,
    until === "unready" ? "answers 503" : "refuses",
    number(median(ms)),
    number(Math.max(...ms)),
    number(median(ms) / median(of(rival).map((result) => result.ms))),
    number(median(of(candidate).map((result) => result.cpuPercent))),
    ...(candidate === ebb ? atMost(LIMIT_MS, " ms", median(ms)) : noTarget),
  ];
}
