import { readFileSync } from "node:fs";
import type { Ended, Started } from "../../harness/ebb.ts";

/** Waits for a process's end. `peak` is the most bytes that it had in memory, looking every `everyMs`. */
export async function endWithPeak(
  started: Started,
  everyMs = 5,
): Promise<{ readonly ended: Ended; readonly peak: number }> {
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(started.pid));
  }, everyMs);
  const ended = await started.ended;
  clearInterval(look);
  return { ended, peak };
}

/** Returns the most bytes that a process has had in memory; 0 if it has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
