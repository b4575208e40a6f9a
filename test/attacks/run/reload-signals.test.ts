import { expect, test } from "bun:test";
import { endsWait, forwarded, SIG, signalName, suspends } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebb, runChild, type Started, startEbb, until } from "../../harness/ebb.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

// A reload (HUP) and a graceful end of its own (QUIT, as nginx and PHP-FPM have it) are the app's business: only what asks it to
// stop drains and begins the grace. What comes before the app is there ends the wait or is dropped, and said.

const child = childPath();

function received({ stdout }: Pick<Started, "stdout">): readonly number[] {
  return stdout().split("\n").map(Number).filter(Boolean);
}

async function startRecording(until_: number, flags: readonly string[]): Promise<Started> {
  const started = startEbb(runChild(["record", String(until_)], flags));
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  return started;
}

test.each([SIG.HUP, SIG.QUIT])("signal %d begins neither a drain nor the grace", async (signal) => {
  await using started = await startRecording(SIG.USR1, ["--drain", "1h", "--grace", "1ms"]);
  for (let times = 1; times <= 20; times++) {
    started.kill(signal); // each takes longer than the grace would
    await until("the child has it", () => received(started).length === times);
  }
  started.kill(SIG.USR1);
  expect((await started.ended).code).toBe(0);
});

test("--stop-signal QUIT: TERM is only forwarded, QUIT begins the grace", async () => {
  await using started = await startRecording(9, ["--stop-signal", "QUIT", "--grace", "1ms"]);
  started.kill(SIG.TERM);
  await until("the child has it", () => received(started).includes(SIG.TERM));
  started.kill(SIG.USR1);
  await until("the child lives", () => received(started).includes(SIG.USR1));
  started.kill(SIG.QUIT);
  expect((await started.ended).code).toBe(137);
});

test("EBB_STOP_SIGNAL: a signal of the app's own drains", async () => {
  await using sidecar = await fakeSidecar({ isReady: true });
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--drain", "1h", "--min-drain", "1h"];
  const env = { EBB_STOP_SIGNAL: "USR1,USR2" };
  await using started = startEbb(["run", ...flags, "--", child, "record"], { env });
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  started.kill(SIG.USR1);
  await until("it drains", () => sidecar.requests.includes("POST /healthcheck/fail"));
  expect(received(started)).toEqual([]);
  started.kill(SIG.USR2);
  await until("the other one cuts that short", () => received(started).length === 2);
  started.kill(SIG.TERM);
  expect((await started.ended).code).toBe(0);
});

test.each(["KILL", "TERM,STOP", "CHLD", "", "TERM INT"])("--stop-signal %p is refused", async (value) => {
  const { code, stderr } = await ebb(["run", "--stop-signal", value, "--", "true"]);
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining("--stop-signal: expected signals") });
});

const passing = forwarded.filter((signal) => !endsWait(signal));

function droppedIn(log: readonly { readonly msg: string; readonly signal?: unknown }[]): readonly unknown[] {
  return log.filter(({ msg }) => msg.includes("dropped a signal")).map(({ signal }) => signal);
}

test("during the wait all others are dropped, each said once, and the app gets none of them", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url];
  await using started = startEbb(["run", ...flags, "--", child, "record"]);
  await until("ebb waits", () => sidecar.probes() > 0);
  for (const _ of [1, 2]) for (const signal of passing) if (!suspends(signal)) process.kill(started.pid, signal);
  // the kernel drops a SIGCONT that waits when one of these comes
  await until("SIGCONT is said", () => started.stderr().includes(`"SIGCONT"`));
  for (const signal of passing.filter(suspends)) started.kill(signal);
  await until("all are said", () => passing.every((signal) => started.stderr().includes(`"${signalName(signal)}"`)));
  sidecar.isReady = true;
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  started.kill(SIG.TERM);
  const { code, stdout, log } = await started.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "ready\n15\n" });
  expect(droppedIn(log).toSorted()).toEqual(passing.map(signalName).toSorted());
});

test("during ebb wait too, and the command that takes over gets none of them", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const call = ["wait", "--sidecar", "none", `${sidecar.url}/ready`, "--", child, "exit", "4"];
  await using started = startEbb(call);
  await until("ebb waits", () => sidecar.probes() > 0);
  for (const signal of [SIG.HUP, SIG.USR1, SIG.HUP]) started.kill(signal);
  await until("both are said", () => started.stderr().includes("SIGUSR1") && started.stderr().includes("SIGHUP"));
  sidecar.isReady = true;
  const { code, signal, log } = await started.ended;
  expect({ code, signal, dropped: droppedIn(log) }).toEqual({ code: 4, signal: null, dropped: ["SIGHUP", "SIGUSR1"] });
});

test.each(["run", "wait"])("a signal that the app starts with blocked is kept for it: ebb %s", async (command) => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const call = [command, "--sidecar", "none", "--ready", `${sidecar.url}/ready`, "--log-level", "debug", "--"];
  const wait = ["wait", "--sidecar", "none", `${sidecar.url}/ready`, "--"];
  const through = [child, "sent", String(SIG.USR1)];
  await using started = startEbb([...(command === "run" ? call : wait), child, "pending", String(SIG.USR1)], {
    through,
  });
  await until("ebb waits", () => sidecar.probes() > 0);
  sidecar.isReady = true;
  const { code, stdout } = await started.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${SIG.USR1}\n` });
});
