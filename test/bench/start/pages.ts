import { readFileSync, realpathSync } from "node:fs";
import { childPath } from "../../harness/compiled.ts";
import { ableTo, type Candidate, type CommandLine, commandLine } from "../candidates.ts";
import { startSidecar } from "../sidecar.ts";
import type { Bare } from "./bare.ts";
import { BARE, type Row } from "./row.ts";

const READY_IN_MS = 300;
const CHILD_LIFE_US = "300000";

/** Measures the most memory that can be both written and executed, looking as often as possible through a whole run. */
export async function measurePages(bare: Bare, tools: readonly Candidate[]): Promise<readonly Row[]> {
  const child = [childPath(), "clock", "0", CHILD_LIFE_US];
  const values: Record<string, readonly number[]> = {
    [BARE]: [mostKib({ words: [bare.spawn, ...child], env: {} })],
  };
  for (const candidate of ableTo("quit", tools)) {
    await using sidecar = startSidecar();
    const line = commandLine(candidate, "quit", await sidecar.open(READY_IN_MS), child);
    values[candidate.name] = [mostKib(line)];
  }
  return [{ what: "writable and executable, at most, KiB", values, goals: [{ atMost: 0 }] }];
}

/** Looks without a pause, so that nothing else of this process runs meanwhile. */
function mostKib({ words, env }: CommandLine): number {
  const [executable = ""] = words;
  const path = realpathSync(executable);
  const { pid } = Bun.spawn([...words], { env: { ...env }, stdio: ["ignore", "ignore", "ignore"] });
  let most = 0;
  let looks = 0;
  for (let maps = mapsOf(pid); maps !== ""; maps = mapsOf(pid)) {
    if (!maps.includes(` ${path}\n`)) continue; // not yet that program
    looks++;
    most = Math.max(most, writableExecutableKib(maps));
  }
  if (looks < 100) throw new Error(`${executable}: seen only ${looks} times`);
  return most;
}

/** Reads the memory map of a process; "" if it has ended. */
function mapsOf(pid: number): string {
  return readFileSync(`/proc/${pid}/maps`, "utf8");
}

/** Adds the sizes of the mappings that are writable and executable: `from-to rwxp ...`, proc(5). */
function writableExecutableKib(maps: string): number {
  const found = [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) .wx/gm)];
  const bytes = found.map(([, from = "", to = ""]) => Number.parseInt(to, 16) - Number.parseInt(from, 16));
  return bytes.reduce((sum, each) => sum + each, 0) / 1024;
}
