import { collect } from "../harness.ts";
import type { CommandLine } from "./candidates.ts";
import { programPath } from "./programs.ts";

/** One life of a tool and its child. Times are CLOCK_MONOTONIC in ns, as the sidecar's; 0: not told. */
export interface Life {
  readonly startNs: number;
  readonly endNs: number;
  readonly code: number;
  /** The processor time of both. */
  readonly cpuUs: number;
  /** Processes that the tool did not reap. */
  readonly left: number;
  /** Page faults of the tool alone. */
  readonly faults: number;
  /** What was read from a disk. */
  readonly readBytes: number;
  readonly childStartNs: number;
  readonly childEndNs: number;
}

export interface Living {
  /** The stopwatch: the tool is its only child. */
  readonly pid: number;
  stdout(): string;
  readonly ended: Promise<Life>;
}

type Output = "heard" | "silent" | "cold";

/** Starts it under stopwatch.c; its stderr is dropped, unless `heard` its stdout too; `cold`: with nothing of it in the page cache. */
export function start({ words, env }: CommandLine, output: Output = "heard"): Living {
  const PATH = process.env.PATH ?? "";
  const { pid, stdout, exited } = Bun.spawn([programPath("stopwatch"), output, ...words], {
    env: { PATH, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const said = collect(stdout);
  const end = async (): Promise<Life> => {
    await Promise.all([exited, said.done]);
    return readLife(said.text());
  };
  return { pid, stdout: said.text, ended: end() };
}

export function live(command: CommandLine, output?: Output): Promise<Life> {
  return start(command, output).ended;
}

/** Some tools write their log there too. */
function readLife(output: string): Life {
  const numbers = (line: RegExp) => line.exec(output)?.slice(1).map(Number);
  const took = numbers(/^took (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m);
  if (took === undefined) throw new Error(`not run: ${output}`);
  const [startNs = 0, endNs = 0, code = 0, cpuUs = 0, left = 0, faults = 0, readBytes = 0] = took;
  const [childStartNs = 0] = numbers(/^started (\d+)$/m) ?? [];
  const [childEndNs = 0] = numbers(/^ended (\d+)$/m) ?? [];
  return { startNs, endNs, code, cpuUs, left, faults, readBytes, childStartNs, childEndNs };
}
