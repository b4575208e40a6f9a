import { collect } from "../harness/ebb.ts";
import type { CommandLine } from "./candidates.ts";
import { programPath } from "./programs.ts";

/** A life of a tool and its child. Times are nanoseconds of CLOCK_MONOTONIC, as the sidecar's; 0 if unknown. */
export interface Life {
  readonly startNs: number;
  readonly endNs: number;
  /** The exit code as a shell reports it. */
  readonly code: number;
  /** The processor time of both, in microseconds. */
  readonly cpuUs: number;
  /** The number of processes that the tool did not reap. */
  readonly left: number;
  /** The number of page faults of the tool alone. */
  readonly faults: number;
  /** The number of bytes that were read from a disk. */
  readonly readBytes: number;
  readonly childStartNs: number;
  readonly childEndNs: number;
}

/** A tool that runs. */
export interface Living {
  /** The pid of the stopwatch, whose only child is the tool. */
  readonly pid: number;
  /** Returns what has been written to stdout so far. */
  stdout(): string;
  /** Resolves with the whole life at its end. */
  readonly ended: Promise<Life>;
}

/**
 * `heard`: stdout is kept; `silent`: it is dropped; `cold`: it is dropped, and nothing of the tool is in the page cache
 * before.
 */
type Output = "heard" | "silent" | "cold";

/**
 * Starts a tool under stopwatch.c; its stderr is dropped. The child times only count if stdout is heard. `group`: the
 * cgroup.procs of the control group in which both run.
 */
export function start({ words, env }: CommandLine, output: Output = "heard", group?: string): Living {
  const PATH = process.env.PATH ?? "";
  const enter = group === undefined ? [] : ["sh", "-c", 'echo $$ >"$0" && exec "$@"', group];
  const { pid, stdout, exited } = Bun.spawn([...enter, programPath("stopwatch"), output, ...words], {
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

/** Runs a tool to its end, and resolves with its life. */
export function live(command: CommandLine, output?: Output, group?: string): Promise<Life> {
  return start(command, output, group).ended;
}

/** Reads the stopwatch's lines, among which some tools write their log. */
function readLife(output: string): Life {
  const numbers = (line: RegExp) => line.exec(output)?.slice(1).map(Number);
  const took = numbers(/^took (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m);
  if (took === undefined) throw new Error(`not run: ${output}`);
  const [startNs = 0, endNs = 0, code = 0, cpuUs = 0, left = 0, faults = 0, readBytes = 0] = took;
  const [childStartNs = 0] = numbers(/^started (\d+)$/m) ?? [];
  const [childEndNs = 0] = numbers(/^ended (\d+)$/m) ?? [];
  return { startNs, endNs, code, cpuUs, left, faults, readBytes, childStartNs, childEndNs };
}
