import { describe, expect, test } from "bun:test";
import { endsWait, forwarded, SIG, signalName } from "../../../src/shared/core/signal.ts";
import { ebb, inParallel, runChild, type Started, startEbb, until } from "../../harness/ebb.ts";
import { childrenOf } from "../../harness/processes.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { child, together } from "./swept-signals.ts";

/** A real-time one is never one with another of its kind that waits, as two equal standard ones are (signal(7)). */
const isRealTime = (signal: number) => signal > 31;

function received({ stdout }: Pick<Started, "stdout">): readonly number[] {
  return stdout().split("\n").map(Number).filter(Boolean);
}

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
    const isChilds = stderr.includes("held\n"); // which may have ended before it comes
    const codes = isChilds ? [5, 128 + signal] : [isOver || !endsWait(signal) ? 5 : 128 + signal];
    expect({ at, signal, code, dropped, killed: /killed by \d+/.exec(stderr)?.[0] }).toEqual({
      at,
      signal,
      code: codes.includes(code) ? code : (codes[0] as number),
      dropped: isOver || isChilds || endsWait(signal) ? [] : [signalName(signal)],
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
});

/** Sends all of them, and one that ebb hears after them. */
async function expectAll(started: Started, signals: readonly number[]): Promise<void> {
  for (const signal of signals) process.kill(started.pid, signal);
  await until("the child has them", () => received(started).length >= signals.length);
  process.kill(started.pid, SIG.USR1);
  await until("the child has the last one", () => received(started).length > signals.length);
  expect(received(started).toSorted((a, b) => a - b)).toEqual([...signals, SIG.USR1].toSorted((a, b) => a - b));
}

/** Another one, which is not looked for. */
function besides(signal: number, ...choices: readonly number[]): number {
  return choices.find((each) => each !== signal) as number;
}

test("while it waits: a stop signal or QUIT ends the wait, each other one is dropped, said once and never the child's", async () => {
  await inParallel(forwarded, async (signal) => {
    await using sidecar = await fakeSidecar({ isReady: false });
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url];
    await using started = startEbb(["run", ...flags, "--", child, "record"]);
    await until("ebb waits", () => sidecar.probes() > 0);
    process.kill(started.pid, signal);
    if (!endsWait(signal)) {
      await until("it is said", () => started.stderr().includes(`"${signalName(signal)}"`));
      process.kill(started.pid, signal);
      sidecar.isReady = true;
      await until("the child is ready", () => started.stdout().includes("ready\n"));
      started.kill(SIG.TERM);
    }
    const { code, signal: killer, stdout, log } = await started.ended;
    const dropped = log.filter(({ msg }) => msg.includes("dropped a signal")).map(({ signal: name }) => name);
    const isEnd = endsWait(signal);
    expect({ code, killer, stdout, dropped, quits: sidecar.requests.length }).toEqual({
      code: isEnd ? 128 + signal : 0,
      killer: null,
      stdout: isEnd ? "" : `ready\n${SIG.TERM}\n`,
      dropped: isEnd ? [] : [signalName(signal)],
      quits: 1,
    });
  });
}, 60_000);

describe("between fork and exec:", () => {
  const harmless: readonly number[] = [SIG.CONT, SIG.TSTP, SIG.TTIN, SIG.TTOU, SIG.URG, SIG.WINCH];
  const fatal = forwarded.filter((signal) => !harmless.includes(signal));

  test("each signal that can end a child ends it", async () => {
    const ended = await inParallel(fatal, async (signal) => {
      const { code, log } = await ebb(["run", "--sidecar", "none", "--", child, "ignore"], {
        through: [child, "interrupted", "vfork+0", String(signal)],
      });
      return { code, dropped: log.filter(({ msg }) => msg.includes("dropped")) };
    });
    expect(ended).toEqual(fatal.map((signal) => ({ code: 128 + signal, dropped: [] })));
  }, 60_000);

  test("each signal comes once to a child that starts with it blocked", async () => {
    await inParallel(forwarded, async (signal) => {
      const last = besides(signal, SIG.TERM, SIG.INT);
      const through = [child, "blocked", child, "interrupted", "vfork+0", String(signal)];
      await using started = startEbb(runChild(["record", String(last)]), { through });
      await until("the child has it", () => received(started).length > 0);
      const [pid = 0] = childrenOf(started.pid);
      process.kill(pid, last);
      const { code, stdout } = await started.ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: `ready\n${signal}\n${last}\n` });
    });
  }, 60_000);
});

describe("while the child runs:", () => {
  async function startRecording(): Promise<Started> {
    const started = startEbb(runChild(["record", "9"]));
    await until("the child is ready", () => started.stdout().includes("ready\n"));
    return started;
  }

  test("each signal comes as often as it was sent", async () => {
    await using started = await startRecording();
    const sent: number[] = [];
    for (const signal of [...forwarded, ...forwarded.toReversed()]) {
      process.kill(started.pid, signal);
      sent.push(signal);
      await until(`the child has ${signal}`, () => received(started).length >= sent.length);
    }
    expect(received(started)).toEqual(sent);
  });

  test("all at once: each standard one comes once, each real-time one as often as it was sent", async () => {
    await using started = await startRecording();
    const sent = [...together, ...together.filter(isRealTime), ...together.filter(isRealTime)];
    await expectAll(started, sent);
  });
});

describe("while it drains:", () => {
  async function startDraining(stop: number, flags: readonly string[], last: number) {
    const sidecar = await fakeSidecar();
    const drain = ["--sidecar", "envoy", "--admin", sidecar.url, "--drain", "1h", "--min-drain", "1h"];
    const started = startEbb(["run", ...drain, ...flags, "--", child, "record", String(last)]);
    await until("the child is ready", () => started.stdout().includes("ready\n"));
    process.kill(started.pid, stop);
    await until("it drains", () => sidecar.requests.includes("POST /healthcheck/fail"));
    return {
      started,
      async [Symbol.asyncDispose]() {
        await started[Symbol.asyncDispose]();
        await sidecar[Symbol.asyncDispose]();
      },
    };
  }

  test("each but a stop signal comes as often as it was sent, the stop signals after it", async () => {
    await using draining = await startDraining(SIG.TERM, ["--quiet"], 9);
    const { started } = draining;
    const sent: number[] = [];
    for (const signal of [...forwarded, ...forwarded].filter((each) => each !== SIG.TERM && each !== SIG.INT)) {
      process.kill(started.pid, signal);
      sent.push(signal);
      await until(`the child has ${signal}`, () => received(started).length >= sent.length);
    }
    started.kill(SIG.INT);
    await until("and then the stop signals", () => received(started).length >= sent.length + 2);
    expect(received(started).length).toBe(sent.length + 2);
    expect(received(started).slice(0, sent.length)).toEqual(sent);
    expect(received(started).slice(sent.length).toSorted()).toEqual([SIG.TERM, SIG.INT].toSorted());
  });

  test("all but the stop signals at once: each comes once", async () => {
    await using draining = await startDraining(SIG.TERM, ["--quiet"], 9);
    const { started } = draining;
    const others = together.filter((signal) => signal !== SIG.TERM && signal !== SIG.INT);
    await expectAll(started, others);
  });

  test("each as the stop signal: a repeat of it counts once, another one cuts the drain short, then both come", async () => {
    await inParallel(
      forwarded,
      async (stop) => {
        const [another, end] = [besides(stop, SIG.TERM, SIG.INT), besides(stop, SIG.USR1, SIG.USR2)];
        const flags = ["--log-level", "debug", "--stop-signal", `${stop},${another}`];
        await using draining = await startDraining(stop, flags, end);
        const { started } = draining;
        process.kill(started.pid, stop);
        await until("ebb has read both", () => started.stderr().split("received a signal").length > 2);
        expect(received(started)).toEqual([]);
        process.kill(started.pid, another);
        await until("both come", () => received(started).length >= 2);
        process.kill(started.pid, end);
        const { code, stdout } = await started.ended;
        const came = stdout.trim().split("\n").slice(1, -1).map(Number);
        const sorted = (signals: readonly number[]) => signals.toSorted((a, b) => a - b);
        expect({ stop, code, came: sorted(came) }).toEqual({ stop, code: 0, came: sorted([stop, another]) });
      },
      12,
    );
  }, 60_000);
});
