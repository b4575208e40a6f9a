import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SIG } from "../../../src/shared/core/signal.ts";
import { canUnshare, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf, isEbb, processState } from "../../harness/processes.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

// What is left of the app at the end of the grace is all that ebb can find, and only that.

const deaf = `trap "" TERM INT`;
/** It says its number; in the group of what starts it. */
const sleeper = `sh -c 'echo "pid $$"; exec sleep 60'`;

function pidsOf({ stdout }: Pick<Started, "stdout">): readonly number[] {
  return [...stdout().matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
}

function isGone(pid: number): boolean {
  return [undefined, "Z"].includes(processState(pid));
}

function start(script: string, flags: readonly string[], through: readonly string[] = []): Started {
  const own = flags.includes("--quit") ? [] : ["--quiet"];
  return startEbb(["run", "--sidecar", "none", ...own, ...flags, "--", "sh", "-c", script], { through });
}

/** Once it has said that it is ready, and so many numbers. */
async function ready(started: Started, count: number): Promise<readonly number[]> {
  await until("it is ready", () => started.stdout().includes("ready\n") && pidsOf(started).length >= count);
  return pidsOf(started);
}

/** The processes with this word in their command line. */
function withWord(word: string): readonly string[] {
  const commandOf = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1");
    } catch {
      return ""; // it is gone
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandOf(name).split("\0").includes(word));
}

describe("at the end of the grace", () => {
  test.each([
    ["what has left for a session of its own", `setsid ${sleeper} &`],
    ["what its parent has left behind", `(setsid ${sleeper} &);`],
    ["what that has started", `setsid sh -c '${deaf}; setsid sh -c "echo pid \\$\\$; exec sleep 60" & wait' &`],
  ])("%s is killed, too", async (_, leaving) => {
    await using started = start(`${deaf}; ${leaving} echo ready; sleep 60`, ["--grace", "30ms"]);
    const pids = await ready(started, 1);
    started.kill(SIG.TERM);
    expect((await started.ended).code).toBe(137);
    expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
  });

  test("so is what goes on starting others, with all of them", async () => {
    const word = `60.${process.pid}`;
    const fork = `${deaf}; echo "pid $$"; for i in $(seq 3000); do setsid -f sleep ${word} </dev/null >/dev/null 2>&1; done`;
    await using started = start(`${deaf}; setsid -f sh -c '${fork}'; echo ready; sleep 60`, ["--grace", "30ms"]);
    await ready(started, 1);
    await until("it has started some", () => withWord(word).length > 3);
    started.kill(SIG.TERM);
    expect((await started.ended).code).toBe(137);
    expect(withWord(word)).toEqual([]);
  });

  test("what was there before ebb lives on, and what is beside it", async () => {
    const through = ["sh", "-c", `sleep 60 >/dev/null 2>&1 & echo "pid $!"; exec "$@"`, "sh"];
    await using beside = Bun.spawn(["sleep", "60"]);
    await using started = start(`${deaf}; setsid ${sleeper} & echo ready; sleep 60`, ["--grace", "30ms"], through);
    const [before = 0, escaped = 0] = await ready(started, 2);
    started.kill(SIG.TERM);
    expect((await started.ended).code).toBe(137);
    expect([before, beside.pid, escaped].map(isGone)).toEqual([false, false, true]);
    process.kill(before, SIG.KILL);
  });

  const namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];

  test.skipIf(!canUnshare(...namespace))("as PID 1: every process, before the sidecar is quit", async () => {
    await using sidecar = await fakeSidecar({ onQuit: () => undefined });
    const flags = ["--grace", "30ms", "--quit", `${sidecar.url}/quitquitquit`, "--quit-timeout", "1h"];
    const script = `${deaf}; setsid -f ${sleeper}; echo ready; sleep 60`;
    await using started = start(script, flags, ["unshare", ...namespace]);
    await ready(started, 1);
    const pid = await until("ebb", () => childrenOf(started.pid).find(isEbb));
    await until("both are there", () => childrenOf(pid).length === 2);
    process.kill(pid, SIG.TERM);
    await until("ebb quits the sidecar", () => sidecar.requests.length > 0);
    await until("nobody else is there", () => childrenOf(pid).length === 0);
    expect(isEbb(pid)).toBe(true);
  });
});

describe("what is left of the group when the child has ended,", () => {
  /** Starts it beside, and ends with 3 once it has made the file. */
  const leave = (what: string, file: string) => `${what} & until [ -e ${file} ]; do :; done; exit 3`;

  test("with --signal-group: gets TERM, and CONT where it is stopped", async () => {
    const stopped = `sh -c 'trap "" HUP; echo "pid $$"; kill -STOP $$; exec sleep 60'`;
    const script = `${stopped} & until grep -q "^State:.T" /proc/$!/status; do :; done; echo ready; exit 3`;
    await using started = start(script, ["--signal-group"]);
    const pids = await ready(started, 1);
    await until("it ends", () => pids.every(isGone));
    expect((await started.ended).code).toBe(3);
  });

  test("with --signal-group and --grace: is waited for, and gets signals meanwhile", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "ready");
    const traps = `trap "echo got TERM" TERM; trap "echo got USR1; exit" USR1`;
    const script = leave(`sh -c '${traps}; touch ${file}; while :; do sleep 0.01; done'`, file);
    await using started = start(script, ["--signal-group", "--grace", "1h"]);
    await until("it has TERM", () => started.stdout().includes("got TERM\n"));
    started.kill(SIG.USR1);
    const { code, stdout } = await started.ended;
    expect({ code, stdout }).toEqual({ code: 3, stdout: "got TERM\ngot USR1\n" });
  });

  test("with --signal-group and --grace: is killed when that is over", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "ready");
    const script = leave(`sh -c '${deaf}; echo "pid $$"; touch ${file}; exec sleep 60'`, file);
    await using started = start(script, ["--signal-group", "--grace", "30ms"]);
    expect((await started.ended).code).toBe(3);
    expect(pidsOf(started).map(isGone)).toEqual([true]);
  });

  test("without --signal-group: lives on", async () => {
    await using started = start(`sleep 60 >/dev/null 2>&1 & echo "pid $!"; exit 3`, ["--grace", "1h"]);
    expect((await started.ended).code).toBe(3);
    const [pid = 0] = pidsOf(started);
    expect(isGone(pid)).toBe(false);
    process.kill(pid, SIG.KILL);
  });
});
