import { expect, test } from "bun:test";
import { forwarded, SIG, signalName } from "../../../src/shared/core/signal.ts";
import { ebb, inParallel, runChild, startEbb, until } from "../../harness/ebb.ts";
import { takes } from "../../harness/time.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { child, together } from "./swept-signals.ts";

test("while it quits: ebb hears each as often as it was sent, and none changes the exit code or ends it", async () => {
  let answer = (): void => undefined;
  await using sidecar = await fakeSidecar({
    onQuit: (_, response) => {
      answer = () => void response.end("OK\n");
    },
  });
  const flags = ["--sidecar", "none", "--quit", `${sidecar.url}/quitquitquit`, "--quit-timeout", "1h"];
  await using started = startEbb(["run", ...flags, "--log-level", "debug", "--", child, "exit", "7"]);
  await until("it quits", () => sidecar.requests.length > 0);
  const heard = () =>
    [...started.stderr().matchAll(/"ebb: received a signal","signal":"(?:SIG)?([^"]+)"/g)].map(([, name]) => name);
  const sent: string[] = [];
  for (const signal of [...forwarded, ...forwarded]) {
    process.kill(started.pid, signal);
    sent.push(signalName(signal).replace("SIG", ""));
    await until(`ebb has heard ${signal}`, () => heard().length >= sent.length);
  }
  for (const signal of together) process.kill(started.pid, signal);
  await until("and all at once", () => heard().length >= sent.length + together.length);
  expect(heard().slice(0, sent.length)).toEqual(sent);
  answer();
  await sidecar[Symbol.asyncDispose]();
  const { code, signal } = await started.ended;
  expect({ code, signal, quits: sidecar.requests.length }).toEqual({ code: 7, signal: null, quits: 1 });
});

test("from the child's start to ebb's exit, before ebb's system calls: the exit code is the child's, the quit is sent once", async () => {
  let quits = 0;
  await using sidecar = await fakeSidecar({
    onQuit: (_, response) => {
      quits += 1;
      response.end("OK\n");
    },
  });
  const [STEP, LAST] = [13, 65];
  const hits = forwarded.flatMap((signal, index) =>
    Array.from({ length: LAST / STEP }, (_, nth) => ({ at: (index % STEP) + nth * STEP, signal })),
  );
  const call = ["run", "--sidecar", "none", "--quit", `${sidecar.url}/quitquitquit`, "--", child, "exit", "7"];
  let over = 0;
  await inParallel(hits, async ({ at, signal }) => {
    const through = [child, "blocked", child, "interrupted", `vfork+${at}`, String(signal)];
    const { code, stderr, log } = await ebb(call, { through });
    if (stderr.includes("over\n")) over += 1;
    const killed = /killed by \d+/.exec(stderr)?.[0];
    const exitCode = log.at(-1)?.exitCode;
    expect({ at, signal, code, exitCode, killed }).toEqual({ at, signal, code: 7, exitCode: 7, killed: undefined });
  });
  expect(quits).toBe(hits.length);
  expect(over).toBeGreaterThan(0);
  expect(over).toBeLessThan(hits.length / 2);
}, 60_000);

test("a storm as the child ends and ebb exits: the code is the child's", async () => {
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
      await takes(0); // so that the end is noticed
    }
    const { code, signal } = await over;
    return { code, signal };
  });
  for (const end of ended) expect(end).toEqual({ code: 0, signal: null });
}, 30_000);
