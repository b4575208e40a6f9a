import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SIG } from "../../../src/shared/core/signal.ts";
import { startEbb, until } from "../../harness/ebb.ts";

/** Returns how much of a process's memory are pages of files, in KiB. */
function rssFileKiB(pid: number): number {
  return Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

test("ebb releases the pages of its own file while the command runs, and forwards and ends as before", async () => {
  await using started = startEbb(["run", "--sidecar", "none", "--", "sleep", "1000"]);
  let most = 0;
  await until("its pages are released", () => {
    const now = rssFileKiB(started.pid);
    most = Math.max(most, now);
    return now > 0 && now < 0.75 * most;
  });
  process.kill(started.pid, SIG.TERM);
  expect((await started.ended).code).toBe(128 + SIG.TERM);
});
