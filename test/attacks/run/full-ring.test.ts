import { expect, test } from "bun:test";
import { join } from "node:path";
import { SIG } from "../../../src/shared/core/signal.ts";
import { childPath, compiled } from "../../harness/compiled.ts";
import { startEbb, until } from "../../harness/ebb.ts";
import { childrenOf } from "../../harness/processes.ts";

const fullRing = compiled(join(import.meta.dirname, "../../fixtures/full-ring.c"));
const NOTED = 4095;
const STEP = 4; // instructions: fewer than lie between finding a place and taking it

test("two threads note a signal each where there is one place left: both come once, and so do all later ones", async () => {
  const secondThread = ["--ready", "https://127.0.0.1:1/", "--wait-timeout", "50ms", "--on-wait-timeout", "start"];
  const call = ["run", "--sidecar", "none", "--quiet", ...secondThread, "--", childPath(), "record"];
  await using started = startEbb(call, { through: [fullRing, String(NOTED), String(STEP)] });
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  const all = [...new Array(NOTED).fill(40), 41, 42];
  let steps = 0;
  for (; !started.stderr().includes("over\n"); steps += STEP) {
    const before = started.stdout().length;
    const added = () => started.stdout().slice(before);
    started.kill(SIG.USR1);
    await until(`the child has all of step ${steps}`, () => added().length >= 3 * all.length, 10_000);
    expect(added().trim().split("\n").map(Number).toSorted()).toEqual(all);
  }
  expect(steps).toBeGreaterThan(10 * STEP);
  process.kill(childrenOf(started.pid)[0] as number, SIG.TERM);
  expect((await started.ended).code).toBe(0);
}, 60_000);
