import { expect, test } from "bun:test";
import { readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SIG, signalName } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { runChild, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf, processState } from "../../harness/processes.ts";

// Without a terminal: a stop that is sent to ebb stops its child and then ebb, until SIGCONT; and ebb keeps no folder busy.

const stops = [SIG.TSTP, SIG.TTIN, SIG.TTOU].map((signal) => [signalName(signal), signal] as const);

async function startChild(words: readonly string[], flags: readonly string[] = []) {
  const started = startEbb(runChild(words, flags), { through: [childPath(), "group"] });
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  const [child = 0] = childrenOf(started.pid);
  return { started, child };
}

function states(...pids: readonly number[]): readonly (string | undefined)[] {
  return pids.map(processState);
}

async function areBoth(state: string, started: Started, child: number): Promise<void> {
  await until(`both are ${state}`, () => states(started.pid, child).every((each) => each === state));
}

test.each(stops)("%s stops both, SIGCONT continues both, again and again", async (_, signal) => {
  const { started, child } = await startChild(["ignore"]);
  await using _started = started;
  for (let times = 0; times < 3; times++) {
    process.kill(started.pid, signal);
    await areBoth("T", started, child);
    process.kill(started.pid, SIG.CONT);
    await areBoth("S", started, child);
  }
  started.kill(SIG.TERM);
  expect((await started.ended).code).toBe(143);
});

test.each(stops)("%s to a child that goes on does not stop ebb", async (_, signal) => {
  const { started } = await startChild(["record"]);
  await using _started = started;
  process.kill(started.pid, signal);
  await until("the child has it", () => started.stdout().includes(`\n${signal}\n`));
  started.kill(SIG.TERM);
  const { code, stdout } = await started.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `ready\n${signal}\n${SIG.TERM}\n` });
});

test("SIGCONT that comes together with the child's stop continues both", async () => {
  const { started, child } = await startChild(["record"]);
  await using _started = started;
  process.kill(started.pid, SIG.TSTP);
  await until("the child has it", () => started.stdout().includes(`\n${SIG.TSTP}\n`));
  process.kill(started.pid, SIG.STOP);
  await until("ebb has stopped", () => processState(started.pid) === "T");
  process.kill(child, SIG.STOP);
  await until("the child has stopped, which ebb has not read yet", () => processState(child) === "T");
  process.kill(started.pid, SIG.CONT);
  await areBoth("S", started, child);
  started.kill(SIG.TERM);
  expect((await started.ended).code).toBe(0);
});

test("a stop that is rewritten to STOP stops both, as with dumb-init", async () => {
  const { started, child } = await startChild(["record"], ["--signal-group", "--rewrite-signal", "TTIN:STOP"]);
  await using _started = started;
  process.kill(started.pid, SIG.TTIN);
  await areBoth("T", started, child);
  process.kill(started.pid, SIG.CONT);
  await until("the child has SIGCONT", () => started.stdout().includes(`\n${SIG.CONT}\n`));
  started.kill(SIG.TERM);
  const { code, stdout } = await started.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `ready\n${SIG.CONT}\n${SIG.TERM}\n` });
});

test("a child that another process stops does not stop ebb", async () => {
  const { started, child } = await startChild(["ignore"]);
  await using _started = started;
  process.kill(child, SIG.STOP);
  await until("it has stopped", () => processState(child) === "T");
  process.kill(started.pid, SIG.CONT); // which ebb can only pass on where it goes on
  await areBoth("S", started, child);
  started.kill(SIG.TERM);
  expect((await started.ended).code).toBe(143);
});

test("ebb leaves its folder once the child runs, which starts there", async () => {
  using folder = temporaryFolder();
  await using started = startEbb(runChild(["self"]), { cwd: folder.path });
  expect((await started.ended).stdout).toContain(`folder ${folder.path}\n`);
  await using other = startEbb(runChild(["record"]), { cwd: folder.path });
  await until("the child is ready", () => other.stdout().includes("ready\n"));
  await until("ebb has left", () => readlinkSync(`/proc/${other.pid}/cwd`) === "/");
});

test("files that are named from there are found: the command, and what ebb opens later", async () => {
  using folder = temporaryFolder();
  const child = join(folder.path, "app");
  writeFileSync(child, "#!/bin/sh\nreadlink /proc/$PPID/cwd\n", { mode: 0o755 });
  await using started = startEbb(["run", "--sidecar", "none", "--quiet", "--", "./app"], { cwd: folder.path });
  const relative = ["--pod-annotations", "annotations", "--quiet"];
  await using stays = startEbb(["run", "--sidecar", "none", ...relative, "--", "./app"], { cwd: folder.path });
  expect((await started.ended).code).toBe(0);
  expect((await stays.ended).stdout).toBe(`${folder.path}\n`);
});
