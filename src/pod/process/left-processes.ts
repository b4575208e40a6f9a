import { native } from "../../shared/native/native.ts";
import type { Log } from "../../shared/output/log.ts";
import { ownChildren } from "./child.ts";
import { hasEnded, type Stat } from "./core/process.ts";
import { searchChildren } from "./end-processes.ts";
import { readStat } from "./processes.ts";

/** The time in which helpers of the command, such as the end of a pipeline, end after it. */
const SETTLE_MS = 100;

const HOW = "remove --daemon, --detach or -D, or add -F, -n or 'daemon off'; end a script with exec APP";

/**
 * Logs a warning with the children of ebb that still run after 100 ms (`SETTLE_MS`): orphans of the command. Those in
 * `others`, and in the process group `ended`, which has been told to end, do not count.
 */
export async function warnOfProcesses(log: Log, others: readonly number[], ended: number | undefined): Promise<void> {
  if (leftBeside(others, ended).length === 0) return;
  await Bun.sleep(SETTLE_MS);
  const processes = leftBeside(others, ended).map(({ pid, comm }) => `${pid} ${comm}`);
  if (processes.length === 0) return;
  log.warn(
    { processes, how: HOW },
    "the command exited and left processes behind: if they are the app, run it in the foreground",
  );
}

function leftBeside(others: readonly number[], ended: number | undefined): readonly Stat[] {
  const isLeft = (pid: number) => !others.includes(pid) && (ended === undefined || native.groupOf(pid) !== ended);
  return (ownChildren() ?? searchChildren()).filter(isLeft).flatMap((pid) => statOf(pid) ?? []);
}

/** Reads a process that still runs. */
function statOf(pid: number): Stat | undefined {
  const stat = readStat(pid);
  return stat === undefined || hasEnded(stat) ? undefined : stat;
}
