import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forwarded, SIG, signalName } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import {
  canUnshare,
  ebb,
  inParallel,
  runChild,
  type Started,
  startEbb,
  temporaryFolder,
  until,
} from "../../harness/ebb.ts";
import { catches, childrenOf, isEbb } from "../../harness/processes.ts";
import { settled, takes } from "../../harness/time.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

const namespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const asPid1 = { through: namespace };
const canBePid1 = canUnshare("--pid", "--fork", "--mount-proc", "--kill-child");

/** ebb's pid outside of its namespace. */
function outerPid(started: Started): Promise<number> {
  return until("ebb is PID 1", () => {
    const [pid = 0] = childrenOf(started.pid);
    return pid > 0 && isEbb(pid) && pid;
  });
}

function saysReady(started: Started): Promise<boolean> {
  return until("the child is ready", () => started.stdout().includes("ready\n"));
}

const ORPHANS = 10_000;
const SIGNALS = 1000;
const REAL_TIME = 40; // the kernel queues each

/** Records signals until SIGTERM; as soon as there is a file `go`, thousands of processes are left to ebb meanwhile. */
function recordAmongOrphans(go: string): readonly string[] {
  const leave = `until [ -e ${go} ]; do sleep 0.05; done; "$0" orphans ${ORPHANS} 0 && echo all left >&2`;
  return ["run", "--sidecar", "none", "--quiet", "--", "sh", "-c", `(${leave}) & exec "$0" record`, childPath()];
}

function rssAnonKiB(pid: number): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

async function bearOrphans(through: readonly string[], pidOf: (started: Started) => Promise<number>): Promise<void> {
  using folder = temporaryFolder();
  const go = join(folder.path, "go");
  await using started = startEbb(recordAmongOrphans(go), { through });
  const pid = await pidOf(started);
  await saysReady(started);
  const before = await settled("the memory of ebb at rest", () => rssAnonKiB(pid), 500);
  writeFileSync(go, "");
  for (let sent = 0; sent < SIGNALS; sent++) {
    process.kill(pid, REAL_TIME);
    if (sent % 10 === 0) await takes(1); // spread over the time in which orphans end
  }
  await until("the child has had each signal", () => started.stdout().split(`${REAL_TIME}\n`).length > SIGNALS, 20_000);
  await until("the orphans are made", () => started.stderr().includes("all left"), 60_000);
  await until("and reaped", () => childrenOf(pid).length === 1, 20_000);
  await until("their memory is given back", () => rssAnonKiB(pid) <= before + 150, 60_000);
  process.kill(pid, SIG.TERM);
  const { code, stdout } = await started.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `ready\n${`${REAL_TIME}\n`.repeat(SIGNALS)}${SIG.TERM}\n` });
}

describe.skipIf(!canBePid1)("as PID 1 (in a PID namespace, which needs root)", () => {
  test("the exit code is the child's", async () => {
    const ends = [
      ["exit", "0"],
      ["exit", "1"],
      ["exit", "255"],
      ["die", "9"],
      ["die", "15"],
      ["die", "6"],
    ];
    const ended = await inParallel(ends, (words) => ebb(runChild(words), asPid1));
    expect(ended.map(({ code, signal }) => [code, signal])).toEqual([0, 1, 255, 137, 143, 134].map((c) => [c, null]));
  });

  test("a child and a command that is not found are told apart: 127 and the reason", async () => {
    const { code, stderr } = await ebb(["run", "--sidecar", "none", "--", "/no/such/command"], asPid1);
    expect({ code, stderr }).toEqual({ code: 127, stderr: expect.stringContaining("/no/such/command") });
  });

  test("10,000 orphans are reaped meanwhile: the child gets all of 1,000 signals, and ebb is no larger afterwards", async () => {
    await bearOrphans(namespace, outerPid);
  }, 240_000);

  test("orphans that end after the child, while the sidecar is quit, hold nothing up", async () => {
    await using sidecar = await fakeSidecar({ onQuit: (_, response) => void setTimeout(() => response.end(), 100) });
    const flags = ["--sidecar", "none", "--quit", `${sidecar.url}/quitquitquit`];
    const { code } = await ebb(["run", ...flags, "--", childPath(), "orphans", "200", "9"], asPid1);
    expect({ code, requests: sidecar.requests }).toEqual({ code: 9, requests: ["POST /quitquitquit"] });
  });

  test("a process that outlives the child does not keep the container alive", async () => {
    const script = "sleep 60 >/dev/null 2>&1 & exit 3";
    expect((await ebb(["run", "--sidecar", "none", "--", "sh", "-c", script], asPid1)).code).toBe(3);
  });

  test.each(forwarded.map((signal) => [signalName(signal), signal] as const))("%s is forwarded", async (_, signal) => {
    await using started = startEbb(runChild(["record", String(signal)]), asPid1);
    const pid = await outerPid(started);
    await saysReady(started);
    process.kill(pid, signal);
    await until("the child has it", () => started.stdout().includes(`ready\n${signal}\n`));
    expect((await started.ended).code).toBe(0);
  });

  test("SIGTERM sent to PID 1 from within the container reaches the child", async () => {
    const call = ["run", "--sidecar", "none", "--", "sh", "-c", "kill -TERM 1; sleep 30"];
    expect((await ebb(call, asPid1)).code).toBe(143);
  });

  test("SIGTERM as soon as ebb's first instructions have run is not lost", async () => {
    const ended = await inParallel(Array.from({ length: 20 }), async () => {
      await using sidecar = await fakeSidecar({ isReady: false });
      const flags = ["--sidecar", "envoy", "--admin", sidecar.url];
      await using started = startEbb(["run", ...flags, "--", childPath(), "exit", "0"], asPid1);
      const pid = await outerPid(started);
      await until("ebb is there for it", () => catches(pid, SIG.TERM));
      process.kill(pid, SIG.TERM);
      return { code: (await started.ended).code, requests: sidecar.requests };
    });
    for (const end of ended) expect(end).toEqual({ code: 143, requests: ["POST /quitquitquit"] });
  }, 30_000);
});

describe("as any other process", () => {
  test("10,000 orphans are reaped meanwhile: the child gets all of 1,000 signals, and ebb is no larger afterwards", async () => {
    await bearOrphans([], async ({ pid }) => pid);
  }, 240_000);

  test("a process that was ebb's child before ebb started is not taken for the command", async () => {
    const through = ["sh", "-c", `sh -c 'exit 9' & sleep 0.05 & exec "$@"`, "sh"];
    const ended = await ebb(["run", "--sidecar", "none", "--", "sh", "-c", "sleep 0.1; exit 4"], { through });
    expect(ended.code).toBe(4);
  });
});
