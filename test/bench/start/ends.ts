import { childPath } from "../../harness/compiled.ts";
import { ableTo, type Candidate, commandLine } from "../candidates.ts";
import { live } from "../measure.ts";
import { type Sidecar, startSidecar } from "../sidecar.ts";
import { shuffled } from "../statistics.ts";
import type { Row, Values } from "./row.ts";

/** Longer than it takes ebb to give memory back. */
const CHILD_LIFE_US = "500000";

interface Entry {
  readonly candidate: Candidate;
  readonly quit: number[];
  readonly gone: number[];
  /** The milliseconds from the quit's answer to the tool's end: the tool's own part. */
  readonly left: number[];
}

/** Measures the time from the child's end, and from the quit's answer, to the tool's end. */
export async function measureEnds(tools: readonly Candidate[], rounds: number): Promise<readonly Row[]> {
  await using sidecar = startSidecar();
  const entries = ableTo("quit", tools).map((candidate): Entry => ({ candidate, quit: [], gone: [], left: [] }));
  for (let round = 0; round < rounds; round++) for (const entry of shuffled(entries)) await measureOnce(entry, sidecar);
  const values = (key: "quit" | "gone" | "left"): Values =>
    Object.fromEntries(entries.map((entry) => [entry.candidate.name, entry[key]]));
  return [
    { what: "exit -> quit received, ms", values: values("quit"), goals: [{ times: 1.3, beside: "scuttle" }] },
    { what: "exit -> tool gone, ms", values: values("gone"), goals: [{ times: 1.5, beside: "scuttle" }] },
    { what: "quit answered -> tool gone, ms", values: values("left") },
  ];
}

async function measureOnce({ candidate, quit, gone, left }: Entry, sidecar: Sidecar): Promise<void> {
  const child = [childPath(), "clock", "0", CHILD_LIFE_US];
  const life = await live(commandLine(candidate, "quit", await sidecar.open(0), child));
  const { quitNs, answeredNs } = await sidecar.close();
  if (quitNs === 0) throw new Error(`${candidate.name} sent no quit`);
  quit.push((quitNs - life.childEndNs) / 1e6);
  gone.push((life.endNs - life.childEndNs) / 1e6);
  left.push((life.endNs - answeredNs) / 1e6);
}
