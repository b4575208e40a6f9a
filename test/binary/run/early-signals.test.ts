import { expect, test } from "bun:test";
import { endsWait, forwarded, SIG, signalName } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebbPath, inParallel, runChild, startEbb, until } from "../../harness/ebb.ts";
import { catches } from "../../harness/processes.ts";
import { takes } from "../../harness/time.ts";
import { type FakeSidecar, fakeSidecar } from "../../stand-in/sidecar.ts";

const stops = forwarded.filter(endsWait).map((signal) => [signalName(signal), signal] as const);
const quit = ["POST /quitquitquit"];

function behind(sidecar: FakeSidecar, words: readonly string[], flags: readonly string[] = []): readonly string[] {
  return ["run", "--sidecar", "envoy", "--admin", sidecar.url, ...flags, "--", childPath(), ...words];
}

test.each(stops)("%s during the wait ends it: sidecar quit, 128+n, the child never started", async (_, signal) => {
  await using sidecar = await fakeSidecar({ isReady: false });
  await using started = startEbb(behind(sidecar, ["exit", "0"]));
  await until("ebb waits", () => sidecar.probes() > 0);
  started.kill(signal);
  const { code, signal: killer, log } = await started.ended;
  expect({ code, killer, requests: sidecar.requests }).toEqual({ code: 128 + signal, killer: null, requests: quit });
  expect(log.map(({ msg }) => msg)).not.toContain("ebb: started the command");
});

test.each(stops)("%s while auto still looks for a sidecar ends it at once", async (_, signal) => {
  await using started = startEbb(
    ["run", "--host-network=false", "--detect-timeout", "1h", "--", childPath(), "exit", "0"],
    {
      through: ["env"],
    },
  );
  await until("ebb is there for it", () => catches(started.pid, signal));
  started.kill(signal);
  expect((await started.ended).code).toBe(128 + signal);
});

test.each(stops)("%s during ebb wait ends it with 128+n; the command never takes over", async (_, signal) => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const call = ["wait", "--sidecar", "none", `${sidecar.url}/ready`, "--", childPath(), "exit", "0"];
  await using started = startEbb(call);
  await until("ebb waits", () => sidecar.probes() > 0);
  started.kill(signal);
  const { code, signal: killer } = await started.ended;
  expect({ code, killer }).toEqual({ code: 128 + signal, killer: null });
});

const kept = [SIG.HUP, SIG.USR1, SIG.WINCH, SIG.PIPE, SIG.XFSZ].map((signal) => [signalName(signal), signal] as const);

test.each([...stops, ...kept])(
  "%s that is already pending when ebb starts reaches the child, or ends the wait",
  async (_, signal) => {
    const through = [childPath(), "sent", String(signal)];
    // the child starts with the signal blocked, as ebb was, and takes it from there
    await using started = startEbb(runChild(["pending", String(signal)]), { through });
    const { code, signal: killer, stdout } = await started.ended;
    const isReceived = code === 0;
    expect({ code, killer, stdout }).toEqual({
      code: isReceived ? 0 : 128 + signal,
      killer: null,
      stdout: isReceived ? `${signal}\n` : "",
    });
  },
);

test("the first system call of all holds the signals", () => {
  const { stdout } = Bun.spawnSync([childPath(), "first", ebbPath, "sleep", "0"]);
  const rtSigprocmask = process.arch === "x64" ? 14 : 135;
  const SIG_SETMASK = 2;
  expect(stdout.toString()).toBe(`${rtSigprocmask} ${SIG_SETMASK}\n`);
});

test("SIGTERM at any moment after ebb's start ends it: the child is signalled, or 143, and never a hang", async () => {
  const tries = Array.from({ length: 40 }, () => Math.random() * 8);
  const codes = await inParallel(tries, async (delayMs) => {
    await using started = startEbb(runChild(["record"]));
    await takes(delayMs);
    started.kill(SIG.TERM);
    return (await started.ended).code;
  });
  expect(codes.filter((code) => code !== 0 && code !== 143)).toEqual([]);
}, 30_000);

test("SIGTERM as soon as ebb has a handler for it: the sidecar is quit each time", async () => {
  const ended = await inParallel(Array.from({ length: 20 }), async () => {
    await using sidecar = await fakeSidecar();
    await using started = startEbb(behind(sidecar, ["record"]), { through: ["env"] });
    await until("ebb is there for it", () => catches(started.pid, SIG.TERM));
    started.kill(SIG.TERM);
    const { code, signal } = await started.ended;
    return { isOver: code === 0 || code === 143, signal, requests: sidecar.requests };
  });
  for (const end of ended) expect(end).toEqual({ isOver: true, signal: null, requests: quit });
}, 30_000);

test("a stop signal while the sidecar is being quit changes neither the exit code nor the time", async () => {
  await using sidecar = await fakeSidecar({ onQuit: () => undefined });
  await using started = startEbb(behind(sidecar, ["exit", "7"], ["--quit-timeout", "300ms"]));
  await until("the quit is asked for", () => sidecar.requests.length > 0);
  for (const [, signal] of stops) started.kill(signal);
  const { code, signal, log } = await started.ended;
  expect({ code, signal }).toEqual({ code: 7, signal: null });
  expect(Number(log.at(-1)?.quitMs)).toBeGreaterThan(250);
});
