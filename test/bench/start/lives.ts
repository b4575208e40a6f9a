import { ableTo, type Candidate, type CommandLine, commandLine, type Task } from "../candidates.ts";
import { live } from "../measure.ts";
import { shuffled } from "../statistics.ts";
import type { Bare } from "./bare.ts";
import { BARE, isEbb, type Row, type Values } from "./row.ts";

interface LivesInput {
  readonly bare: Bare;
  readonly tools: readonly Candidate[];
  /** The URL of a sidecar that is ready. */
  readonly url: string;
  readonly rounds: number;
}

interface Entry {
  readonly what: string;
  readonly name: string;
  readonly line: CommandLine;
  readonly ms: number[];
  readonly faults: number[];
}

const SLEEP = "sleep 0, ms";
const READY = "run -- true, sidecar ready, ms";
const ALONE = "run -- true, no sidecar, ms";

/** Measures whole lives of programs that have nothing to do: each round runs all of them in a random order. */
export async function measureLives({ bare, tools, url, rounds }: LivesInput): Promise<readonly Row[]> {
  const entries = entriesOf(bare, tools, url);
  for (let round = 0; round < rounds; round++) for (const entry of shuffled(entries)) await measureOnce(entry);
  const row = (what: string, key: "ms" | "faults" = "ms") => valuesOf(entries, what, key);
  return [
    { what: SLEEP, values: row(SLEEP), goals: [{ more: 1.5, beside: BARE }] },
    {
      what: READY,
      values: row(READY),
      goals: [
        { times: 1.5, beside: "scuttle" },
        { more: 2, beside: BARE },
      ],
    },
    { what: ALONE, values: row(ALONE) },
    { what: "page faults, sidecar ready", values: row(READY, "faults"), goals: [{ atMost: 800 }] },
  ];
}

function entriesOf(bare: Bare, tools: readonly Candidate[], url: string): readonly Entry[] {
  const run = (what: string, task: Task): readonly Entry[] => [
    ...ableTo(task, tools).map((each) => entry(what, each.name, commandLine(each, task, url, ["true"]))),
    entry(what, BARE, { words: [bare.spawn, "true"], env: {} }),
  ];
  return [
    ...tools.filter(isEbb).map(({ name, path }) => entry(SLEEP, name, { words: [path, "sleep", "0"], env: {} })),
    entry(SLEEP, BARE, { words: [bare.hello], env: {} }),
    ...run(READY, "leave"),
    ...run(ALONE, "none"),
  ];
}

function entry(what: string, name: string, line: CommandLine): Entry {
  return { what, name, line, ms: [], faults: [] };
}

async function measureOnce({ name, line, ms, faults }: Entry): Promise<void> {
  const life = await live(line, "silent");
  if (life.code !== 0) throw new Error(`${name} exited with ${life.code}: ${line.words.join(" ")}`);
  ms.push((life.endNs - life.startNs) / 1e6);
  faults.push(life.faults);
}

function valuesOf(entries: readonly Entry[], what: string, key: "ms" | "faults"): Values {
  return Object.fromEntries(entries.filter((each) => each.what === what).map((each) => [each.name, each[key]]));
}
