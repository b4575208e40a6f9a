import { expect, test } from "bun:test";
import { SIG } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { runChild, type Started, startEbb, until } from "../../harness/ebb.ts";
import { childrenOf, hasNotedItsStart, isEbb, processState } from "../../harness/processes.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

// ebb in the background of a shell that is killed.

const through = ["sh", "-c", '"$@" & wait', "sh"];

async function ebbUnder(shell: Started): Promise<number> {
  return await until("ebb runs", () => childrenOf(shell.pid).find(isEbb));
}

function kill(shell: Started): void {
  process.kill(shell.pid, SIG.KILL);
}

test.each([
  ["TERM", SIG.TERM],
  ["sigusr2", SIG.USR2],
  ["11", SIG.SEGV],
  ["RTMIN+3", 37],
])("--parent-death %s is forwarded when the parent dies", async (given, signal) => {
  await using shell = startEbb(runChild(["record", String(signal)], ["--parent-death", given]), { through });
  await until("the child is ready", () => shell.stdout().includes("ready\n"));
  const pid = await ebbUnder(shell);
  kill(shell);
  expect((await shell.ended).stdout).toBe(`ready\n${signal}\n`);
  await until("ebb has ended", () => isGone(pid));
});

test("--parent-death during the wait: a stop signal ends it, and the sidecar is quit", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--parent-death", "TERM"];
  await using shell = startEbb(["run", ...flags, "--", childPath(), "record"], { through });
  await until("ebb waits", () => sidecar.probes() > 0);
  kill(shell);
  expect((await shell.ended).stdout).toBe("");
  expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
});

test("--parent-death is heard of also where the parent dies before ebb has asked for it", async () => {
  for (let time = 0; time < 10; time++) {
    const flags = ["--parent-death", "USR1"];
    await using shell = startEbb(runChild(["record", "10"], flags), { through: ["sh", "-c", 'env "$@" & wait', "sh"] });
    const pid = await until("ebb runs", () => childrenOf(shell.pid).find(hasNotedItsStart));
    process.kill(pid, SIG.STOP);
    kill(shell);
    await until("the parent has died", () => isGone(shell.pid));
    process.kill(pid, SIG.CONT);
    await shell.ended; // its child has had the signal, before or after it could say what to do
    await until("ebb has ended", () => isGone(pid));
  }
});

test("--parent-death KILL ends ebb and its child", async () => {
  await using shell = startEbb(runChild(["child"], ["--parent-death", "KILL"]), { through });
  await until(
    "the child is ready",
    () => /^ready\n/m.test(shell.stdout()) && /^grandchild \d+\n/m.test(shell.stdout()),
  );
  const ebb = await ebbUnder(shell);
  const [child = 0] = childrenOf(ebb);
  kill(shell);
  await until("both have ended", () => isGone(ebb) && isGone(child));
  process.kill(Number(/^grandchild (\d+)$/m.exec(shell.stdout())?.[1]), SIG.KILL);
});

test("without it nothing happens when the parent dies", async () => {
  await using shell = startEbb(runChild(["record"]), { through });
  await until("the child is ready", () => shell.stdout().includes("ready\n"));
  const pid = await ebbUnder(shell);
  kill(shell);
  await until("the parent has died", () => isGone(shell.pid));
  process.kill(pid, SIG.USR1);
  await until("the child goes on", () => shell.stdout() === `ready\n${SIG.USR1}\n`);
  process.kill(pid, SIG.TERM);
  expect((await shell.ended).stdout).toBe(`ready\n${SIG.USR1}\n${SIG.TERM}\n`);
});

/** A zombie that nobody reaps (this machine's init, or the test's container) has ended, too. */
function isGone(pid: number): boolean {
  return [undefined, "Z"].includes(processState(pid));
}
