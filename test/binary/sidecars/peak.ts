import { readFileSync } from "node:fs";
import type { Ended, Started } from "../../harness.ts";

/** How a process ended, and the most bytes that it had in memory as far as was seen. */
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

/** The most bytes that a process had in memory so far; 0 where it has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
