import { createBacklog } from "../../shared/core/backlog.ts";
import { printable } from "../../shared/core/text.ts";
import { readIfThere } from "../../shared/io/file.ts";
import { atExit } from "../../shared/native/exit.ts";
import { native } from "../../shared/native/native.ts";
import { writerTo } from "../../shared/output/output.ts";

const ROOM = 64 * 1024;

/**
 * Opens the pod's log, the stderr of the container's first process, because what an exec hook prints is not kept.
 * Returns a writer that never blocks: it escapes control characters, keeps up to 64 Ki characters (`ROOM`) for later,
 * and drops them if there are more. Returns undefined if the log cannot be opened, or if this is no exec hook, which
 * has no parent in the container.
 */
export function openPodLog(): ((text: string) => void) | undefined {
  if (process.ppid !== 0 || process.pid === 1) return undefined;
  const descriptor = native.openLog(`/proc/${firstProcess()}/fd/2`);
  if (descriptor < 0) return undefined; // another user's, or no /proc: stderr has it all
  const describeLoss = (lines: number) =>
    `ebb: warning: ${lines} lines of this hook are missing here: the log was full\n`;
  const backlog = createBacklog(writerTo(descriptor), { room: ROOM, describeLoss });
  atExit(backlog.flush);
  return (text) => backlog.add(printable(text));
}

/**
 * Returns the PID of the container's first process: 1 or, with shareProcessNamespace, the lowest in the same cgroup.
 */
function firstProcess(): string {
  const own = readIfThere("/proc/self/cgroup");
  if (own === readIfThere("/proc/1/cgroup")) return "1";
  const { readdirSync } = require("node:fs") as typeof import("node:fs"); // 0.9 ms, and few need it
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const first = all
    .sort((one, other) => Number(one) - Number(other))
    .find((pid) => readIfThere(`/proc/${pid}/cgroup`) === own);
  return first ?? "1";
}
