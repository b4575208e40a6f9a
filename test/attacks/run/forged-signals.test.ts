import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { forwarded, SIG } from "../../../src/shared/core/signal.ts";
import { startAtTerminal } from "../../binary/run/at-terminal.ts";
import { childPath, compiled } from "../../harness/compiled.ts";
import { ebbPath, runChild, startEbb, until } from "../../harness/ebb.ts";

// A signal that another process sends tells of itself what that process likes: who has sent it, and why.

const forge = compiled(join(import.meta.dirname, "../../fixtures/forge.c"));

/** How, as forge.c says: an si_code (siginfo.h), or `io`. */
const [QUEUE, TIMER, SIGIO] = ["-1", "-2", "-5"];

function send(how: string, pid: number, signal: number): void {
  expect(spawnSync(forge, [how, String(pid), String(signal)], { encoding: "utf8" }).stderr).toBe("");
}

test.each([
  ["ebb has sent (SI_QUEUE)", QUEUE],
  ["a timer of ebb's has sent (SI_TIMER)", TIMER],
  ["a descriptor of ebb's has sent (SI_SIGIO)", SIGIO],
  ["the kernel sends for a descriptor (F_SETSIG)", "io"],
])("each signal that seems to be one that %s reaches the child once, and ends ebb never", async (_, how) => {
  await using started = startEbb(runChild(["record", "9"]));
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  let expected = "ready\n";
  for (const signal of forwarded) {
    send(how, started.pid, signal);
    expected += `${signal}\n`;
    await until(`the child has ${signal}`, () => started.stdout() === expected, 5000);
  }
});

test("in a pipeline at a terminal a signal that the kernel sends, and not for the terminal, reaches the child", async () => {
  const script = `echo ebb $PPID; exec ${childPath()} record ${SIG.QUIT}`;
  const call = `${ebbPath} run --sidecar none --quiet -- sh -c '${script}' | cat`;
  await using at = startAtTerminal("bash", "--norc", "-mc", call);
  const [, pid] = await at.shows(/ebb (\d+)\n/);
  await at.shows("ready\n");
  send("io", Number(pid), 0);
  await at.shows(`\n${SIG.IO}\n`);
  at.type("\x1c");
  await at.exited;
});
