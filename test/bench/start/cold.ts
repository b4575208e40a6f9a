import { ableTo, type Candidate, type CommandLine, commandLine } from "../candidates.ts";
import { live } from "../measure.ts";
import { shuffled } from "../statistics.ts";
import type { Bare } from "./bare.ts";
import { BARE, type Row, type Values } from "./row.ts";

interface ColdInput {
  readonly bare: Bare;
  readonly tools: readonly Candidate[];
  readonly rounds: number;
}

interface Entry {
  readonly name: string;
  readonly line: CommandLine;
  readonly ms: number[];
  readonly readMb: number[];
}

/**
 * Measures whole lives of `run -- true` without a sidecar, with nothing of the executable in the page cache. Rejects if
 * the executable is not on a disk.
 */
export async function measureCold({ bare, tools, rounds }: ColdInput): Promise<readonly Row[]> {
  const able = ableTo("none", tools);
  const entries = [
    ...able.map((each) => entry(each.name, commandLine(each, "none", "", ["true"]))),
    entry(BARE, { words: [bare.spawn, "true"], env: {} }),
  ];
  for (let round = 0; round < rounds; round++) for (const each of shuffled(entries)) await measureOnce(each);
  const values = (key: "ms" | "readMb"): Values => Object.fromEntries(entries.map((each) => [each.name, each[key]]));
  return [
    { what: "run -- true, cold, ms", values: values("ms") },
    { what: "read from the disk for it, MB", values: values("readMb") },
  ];
}

function entry(name: string, line: CommandLine): Entry {
  return { name, line, ms: [], readMb: [] };
}

async function measureOnce({ name, line, ms, readMb }: Entry): Promise<void> {
  const life = await live(line, "cold");
  if (life.readBytes === 0)
    throw new Error(`${name}: nothing was read, as ${line.words[0]} is not on a disk; set TMPDIR`);
  ms.push((life.endNs - life.startNs) / 1e6);
  readMb.push(life.readBytes / 1e6);
}
