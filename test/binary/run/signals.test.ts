import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { forwarded, SIG, signalName, suspends, usualStops } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebb, runChild, type Started, type StartOptions, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf, isEbb, processState } from "../../harness/processes.ts";
import { never } from "../../harness/time.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

const REAL_TIME = 40;
const LAST = 64;

async function startChild(words: readonly string[], flags: readonly string[] = [], options?: StartOptions) {
  const started = startEbb(runChild(words, flags), options);
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  return started;
}

function received({ stdout }: Started): readonly number[] {
  return stdout().split("\n").map(Number).filter(Boolean);
}

function receives(started: Started, ...signals: readonly number[]): Promise<boolean> {
  const has = () => signals.every((signal) => received(started).includes(signal));
  return until(`the child receives ${signals}`, has);
}

/** The pid that `child` wrote. */
function grandchildOf(started: Started): Promise<number> {
  return until("a grandchild", () => Number(/^grandchild (\d+)\n/m.exec(started.stdout())?.[1]));
}

test("signals that come all at once all reach the child", async () => {
  const together = forwarded.filter((signal) => !suspends(signal)); // the kernel drops a SIGCONT that waits when one of those comes
  await using started = await startChild(["record", "9"]);
  for (const signal of together) process.kill(started.pid, signal);
  await receives(started, ...together);
  expect(received(started).toSorted((a, b) => a - b)).toEqual(together);
});

test("after a storm of one signal the next one still reaches the child", async () => {
  await using started = await startChild(["record"]);
  for (let i = 0; i < 2000; i++) started.kill(SIG.USR1);
  await receives(started, SIG.USR1);
  started.kill(SIG.TERM);
  expect((await started.ended).code).toBe(0);
});

test("a stop signal has a line at info that says what ebb does with it, and any other none", async () => {
  await using started = startEbb(["run", "--sidecar", "none", "--", childPath(), "record"]);
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  started.kill(SIG.USR1);
  await receives(started, SIG.USR1);
  started.kill(SIG.TERM);
  const { log } = await started.ended;
  const said = log.filter(({ msg }) => msg.includes("signal"));
  expect(said).toMatchObject([{ level: "info", msg: "ebb: received a stop signal: forwarding it", signal: "SIGTERM" }]);
});

test.each([
  ["by number and without SIG", ["--rewrite-signal", "1:sigusr2"], [SIG.HUP], [SIG.USR2]],
  ["to none", ["--rewrite-signal", "INT:0", "--rewrite-signal", "USR1:0"], [SIG.INT, SIG.USR1, SIG.USR2], [SIG.USR2]],
  [
    "once, not twice",
    ["--rewrite-signal", "USR1:USR2", "--rewrite-signal", "USR2:HUP"],
    [SIG.USR1, SIG.USR2],
    [SIG.USR2, SIG.HUP],
  ],
])("--rewrite-signal rewrites a signal %s", async (_, flags, sent, expected) => {
  await using started = await startChild(["record", "9"], flags);
  for (const signal of sent) {
    const before = received(started).length;
    started.kill(signal);
    const isHeld = flags.includes(`${signalName(signal).slice(3)}:0`);
    await until("the child receives it", () => isHeld || received(started).length > before);
  }
  expect(received(started)).toEqual(expected);
});

test.each(usualStops.map((signal) => [signalName(signal), signal] as const))(
  "--grace after %s: SIGKILL to the child and all of its group",
  async (_, signal) => {
    await using started = await startChild(["child", String(signal)], ["--grace", "30ms"]);
    const grandchild = await grandchildOf(started);
    started.kill(signal);
    expect((await started.ended).code).toBe(137);
    await until("the grandchild is gone", () => processState(grandchild) === undefined);
  },
);

test("--pod-grace shortens a grace that the pod will not live to see", async () => {
  const flags = ["--grace", "1h", "--pod-grace", "1030ms"];
  await using started = await startChild(["ignore", "15"], flags);
  started.kill(SIG.TERM);
  expect((await started.ended).code).toBe(137);
});

test("--grace leaves alone a child that ends in time, and signals that do not ask to stop", async () => {
  await using started = await startChild(["record", "12"], ["--grace", "40ms"]);
  started.kill(SIG.USR1);
  await receives(started, SIG.USR1);
  await never("the child is killed", () => started.stderr().includes("SIGKILL"), 80); // longer than the grace
  started.kill(SIG.USR2);
  expect((await started.ended).code).toBe(0);
});

test("more signals at once than ebb can note: the last of them still reaches the child", async () => {
  const full = ["sh", "-c", `exec 3>&1; "$@" 2>&1 >&3 3>&- | { read line; sleep 1; cat; } >/dev/null`, "sh"];
  await using started = startEbb(
    ["run", "--sidecar", "none", "--log-level", "debug", "--", childPath(), "record", `${LAST}`],
    {
      through: full,
    },
  );
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  const pid = await until("ebb", () => childrenOf(started.pid).find(isEbb));
  for (let i = 0; i < 6000; i++) process.kill(pid, REAL_TIME);
  process.kill(pid, LAST); // the kernel gives lower ones first
  expect((await started.ended).code).toBe(0);
  expect(received(started).filter((signal) => signal === REAL_TIME).length).toBeGreaterThan(4096);
});

describe("a signal that was ignored when ebb was started (nohup)", () => {
  const through = ["env", "--ignore-signal=HUP"];

  test("stays ignored, by ebb and by the child", async () => {
    await using started = await startChild(["ignore"], ["--grace", "1ms"], { through });
    started.kill(SIG.HUP);
    started.kill(SIG.WINCH);
    await never("it ends", () => [undefined, "Z"].includes(processState(started.pid)), 50);
    started.kill(SIG.USR1);
    expect((await started.ended).code).toBe(128 + SIG.USR1);
  });

  test("reaches a child that listens to it, and asks ebb for nothing", async () => {
    await using started = await startChild(["record", "10"], ["--grace", "1ms", "--drain", "1h"], { through });
    started.kill(SIG.HUP);
    await receives(started, SIG.HUP);
    started.kill(SIG.USR1);
    expect((await started.ended).code).toBe(0);
  });

  test("does not end the wait", async () => {
    await using sidecar = await fakeSidecar({ isReady: false });
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url];
    await using started = startEbb(["run", ...flags, "--", childPath(), "exit", "4"], { through });
    await until("ebb waits", () => sidecar.probes() > 0);
    started.kill(SIG.HUP);
    const before = sidecar.probes();
    await until("ebb waits on", () => sidecar.probes() > before + 1);
    sidecar.isReady = true;
    expect((await started.ended).code).toBe(4);
  });
});

test("a fault of ebb's own ends ebb: it is no signal for a child", async () => {
  const { code, signal, stdout } = await ebb(runChild(["record"]), { through: [childPath(), "faulty"] });
  expect({ code, signal, stdout }).toEqual({ code: 139, signal: "SIGSEGV", stdout: "" });
});

test("a system call that seccomp traps fails: ebb goes on, and its SIGSYS is no signal for a child", async () => {
  const { code, stdout } = await ebb(runChild(["exit", "7"]), { through: [childPath(), "trapped"] });
  expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
});

test.skipIf(process.getuid?.() !== 0)("a signal that may not be sent (a set-uid child) harms nothing", async () => {
  using folder = temporaryFolder();
  const setuid = join(folder.path, "child");
  copyFileSync(childPath(), setuid);
  chmodSync(setuid, 0o4755);
  chmodSync(folder.path, 0o755);
  const through = ["setpriv", "--reuid", "65534", "--clear-groups"];
  const call = ["run", "--sidecar", "none", "--", setuid, "root", "record", "12"];
  await using started = startEbb(call, { through });
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  const [child = 0] = childrenOf(started.pid);
  started.kill(SIG.USR1);
  await until("ebb says so", () => started.stderr().includes("SIGUSR1"));
  process.kill(child, SIG.USR2);
  expect((await started.ended).code).toBe(0);
  expect(received(started)).toEqual([SIG.USR2]);
});
