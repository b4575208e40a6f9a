import { describe, expect, test } from "bun:test";
import { endsWait, forwarded, SIG, signalName, suspends } from "../../src/core/signal.ts";
import { childPath, ebb, fakeSidecar, inParallel, runChild, type Started, startEbb, until } from "../harness.ts";
import { takes } from "../time.ts";

// Every signal, at every phase of a run: none is lost, none comes twice, and none ends ebb itself.

const child = childPath();
const LAST = 64;

function received({ stdout }: Pick<Started, "stdout">): readonly number[] {
  return stdout().split("\n").map(Number).filter(Boolean);
}

/** Those that a CONT does not take away, and that take none away, while they wait (signal(7)). */
const together = forwarded.filter((signal) => !suspends(signal));

describe("at the start, before one of ebb's system calls:", () => {
  const call = ["run", "--sidecar", "none", "--", child, "exit", "5"];

  interface Hit {
    readonly at: number;
    readonly signal: number;
  }

  async function interrupt({ at, signal }: Hit): Promise<boolean> {
    const { code, stderr, log } = await ebb(call, { through: [child, "interrupted", String(at), String(signal)] });
    const isOver = stderr.includes("over\n");
    const dropped = log.filter(({ msg }) => msg.includes("dropped a signal")).map(({ signal }) => signal);
    const expected = isOver || !endsWait(signal) ? 5 : 128 + signal;
    expect({ at, signal, code, dropped, killed: /killed by \d+/.exec(stderr)?.[0] }).toEqual({
      at,
      signal,
      code: expected,
      dropped: isOver || endsWait(signal) ? [] : [signalName(signal)],
      killed: undefined,
    });
    return isOver;
  }

  test("each signal, from the first call to the last before the child's start", async () => {
    const STEP = 4;
    const hits = Array.from({ length: 900 / STEP }, (_, index) => ({
      at: index * STEP,
      signal: forwarded[index % forwarded.length] as number,
    }));
    let calls = Number.POSITIVE_INFINITY;
    await inParallel(hits, async (hit) => {
      if (hit.at < calls && (await interrupt(hit))) calls = hit.at;
    });
    expect(calls).toBeGreaterThan(100);
    expect(calls).toBeLessThan(900);
  }, 60_000);

  const unguarded = [SIG.ILL, SIG.TRAP, SIG.ABRT, SIG.BUS, SIG.FPE, SIG.SEGV, SIG.SYS, SIG.PWR, 32, 33, 34];

  test.each(unguarded)("signal %d, which libraries let through or a fault raises, at many of them", async (signal) => {
    await inParallel([0, 40, 110, 180, 250, 320, 390], (at) => interrupt({ at, signal }));
  });

  test.each([SIG.HUP, SIG.USR1, LAST])("signal %d between fork and exec is the child's", async (signal) => {
    const { code, log } = await ebb(["run", "--sidecar", "none", "--", child, "ignore"], {
      through: [child, "interrupted", "vfork", String(signal)],
    });
    expect({ code, dropped: log.filter(({ msg }) => msg.includes("dropped")) }).toEqual({
      code: 128 + signal,
      dropped: [],
    });
  });
});

test("while it drains: each but a stop signal reaches the child, once", async () => {
  await using sidecar = await fakeSidecar();
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--drain", "1h", "--min-drain", "1h", "--quiet"];
  await using started = startEbb(["run", ...flags, "--", child, "record", "9"]);
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  started.kill(SIG.TERM);
  await until("it drains", () => sidecar.requests.includes("POST /healthcheck/fail"));
  const others = together.filter((signal) => signal !== SIG.TERM && signal !== SIG.INT);
  for (const signal of others) process.kill(started.pid, signal);
  await until("the child has them", () => received(started).length >= others.length);
  started.kill(SIG.INT);
  await until("and then the stop signals", () => received(started).length >= together.length);
  expect(received(started).toSorted((a, b) => a - b)).toEqual(together);
  expect(received(started).slice(-2).toSorted()).toEqual([SIG.TERM, SIG.INT].toSorted());
});

test("while it quits: none changes the exit code, or ends ebb", async () => {
  let answer = (): void => undefined;
  await using sidecar = await fakeSidecar({
    onQuit: (_, response) => {
      answer = () => void response.end("OK\n");
    },
  });
  const flags = ["--sidecar", "none", "--quit", `${sidecar.url}/quitquitquit`, "--quit-timeout", "10s"];
  await using started = startEbb(["run", ...flags, "--log-level", "debug", "--", child, "exit", "7"]);
  await until("it quits", () => sidecar.requests.length > 0);
  for (const signal of together) process.kill(started.pid, signal);
  const heard = (signal: number) => started.stderr().includes(`"ebb: signal","signal":"${signalName(signal)}"`);
  await until("ebb has heard them", () => together.every(heard));
  answer();
  await sidecar[Symbol.asyncDispose]();
  const { code, signal } = await started.ended;
  expect({ code, signal }).toEqual({ code: 7, signal: null });
});

test("as the child ends and ebb exits: the code is the child's", async () => {
  const ended = await inParallel(Array.from({ length: 12 }), async () => {
    await using started = startEbb(runChild(["record", String(SIG.USR2)]));
    await until("the child is ready", () => started.stdout().includes("ready\n"));
    let isOver = false;
    const over = started.ended.finally(() => {
      isOver = true;
    });
    started.kill(SIG.USR2);
    const named = together.filter((signal) => signal < 32); // kill() is for those, and knows when ebb is gone
    for (let at = 0; !isOver; at++) {
      if (at < 5000) started.kill(named[at % named.length] as number);
      await takes(0);
    }
    const { code, signal } = await over;
    return { code, signal };
  });
  for (const end of ended) expect(end).toEqual({ code: 0, signal: null });
}, 30_000);
