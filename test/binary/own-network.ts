import { join } from "node:path";
import type { Port } from "../fixtures/sidecars.ts";
import { canUnshare, childPath, type Ended, ebb, type StartOptions } from "../harness.ts";

/** Whether a network of one's own can be had: that needs root. */
export const canHaveNetwork = canUnshare("--net", "--pid", "--fork", "--mount-proc", "--kill-child");

export interface InNetwork extends Ended {
  /** `PORT METHOD /path` of each request to a sidecar, but for probes. */
  readonly requests: readonly string[];
}

/** Runs ebb, as PID 1, in a network where sidecars listen on the ports that they really have. */
export async function ebbBeside(
  sidecars: readonly Port[],
  args: readonly string[],
  options: Omit<StartOptions, "through"> = {},
): Promise<InNetwork> {
  const script = '"$0" "$1" "$2" & shift 2; exec "$@"';
  const program = join(import.meta.dirname, "..", "fixtures", "sidecars.ts");
  const through = [
    ...[
      "unshare",
      "--net",
      "--pid",
      "--fork",
      "--mount-proc",
      "--kill-child",
      childPath(),
      "loopback",
      "/bin/sh",
      "-c",
      script,
    ],
    ...[process.execPath, program, JSON.stringify(sidecars)],
  ];
  const ended = await ebb(args, { ...options, through });
  const requests = [...ended.stderr.matchAll(/^sidecar (.*)$/gm)].map(([, request]) => request as string);
  return { ...ended, requests };
}
