import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Ended, type LogLine, quitLineOf, type Started, until } from "../harness/ebb.ts";
import { within } from "../harness/time.ts";
import { type Pod, signalEbb, startPod } from "./pod.ts";
import type { Beside, Subject } from "./subject.ts";

/** Declares the tests of an app's life beside a real program: waiting for the program, running, ending it. */
export function lifeTests(subject: Subject): void {
  const { title, sidecar, env, ready } = subject;
  const named = ["--sidecar", sidecar] as const;

  describe(`${title}: an app beside it`, () => {
    test("where it is not there, a wait ends with 69, and a quit says that nobody listens", async () => {
      await using pod = await startPod();
      const waited = await run(pod, ["wait", ...named, "--wait-timeout", "500ms"]);
      expect(waited).toMatchObject({ code: 69 });
      const quit = await run(pod, ["quit", ...named, "--quit-timeout", "300ms"]);
      expect(quit.code).toBe(69);
      expect(quitLineOf(quit).outcome).toMatch(/^connection refused/);
    });

    test("an app that starts first waits, and starts once it is ready", async () => {
      await using pod = await startPod();
      await using started = pod.startEbb(["run", "--detect-timeout", "20s", "--", ...ask(ready.at)], { env });
      await subject.start(pod);
      const ended = await endOf(started);
      const found = ended.log.filter(({ msg }) => msg === "ebb: found");
      const by = subject.foundBy && [{ sidecars: [sidecar], by: expect.stringMatching(subject.foundBy) }];
      expect(found).toMatchObject(by ?? []);
      expect(JSON.parse(ended.stdout)).toMatchObject({ status: ready.status });
      expect(ended.code).toBe(0);
    });

    test("it is noticed as soon as what it lacked is there", async () => {
      await using pod = await startPod();
      const beside = await subject.start(pod, true);
      await until("it is not ready", async () => (await pod.request(ready.at))?.status !== ready.status);
      await using started = pod.startEbb(["wait", ...named, "--log-level", "debug"], { env });
      await until("ebb has asked in vain", () => started.stderr().includes('"reason"'));
      const [before] = await Promise.all([started.stderr(), beside.release()]);
      expect(before).not.toContain('"msg":"ebb: ready"');
      const ended = await endOf(started);
      expect(ended.code).toBe(0);
      expect(await pod.request(ready.at)).toMatchObject({ status: ready.status });
      expect(mostOften(ended.log.filter(({ msg }) => msg === "ebb: waiting until ready"))).toBeLessThan(4);
    });

    test("a wait is over at once where it is ready", async () => {
      await using pod = await startPod();
      await startReady(subject, pod);
      const start = performance.now();
      const ended = await run(pod, ["wait"], env);
      expect(ended.code).toBe(0);
      expect(performance.now() - start).toBeLessThan(1000);
    });

    test.each([0, 3])("after an app that ends with %i it is gone, and ended well", async (code) => {
      await using pod = await startPod();
      const { container } = await startReady(subject, pod);
      const ended = await run(pod, ["run", "--", "sh", "-c", `exit ${code}`], env);
      expect(quitLineOf(ended)).toMatchObject({
        level: "info",
        sidecar,
        outcome: expect.stringMatching(subject.quitOutcome),
      });
      expect(ended.code).toBe(code);
      expect(await container.ended).toBe(subject.exitCode);
      expect(quitTook(ended)).toBeLessThan(2000);
    });

    test("a stop signal while it is waited for is the end, of it too where it is there", async () => {
      await using pod = await startPod();
      const { container } = await subject.start(pod, true);
      const patience = ["--log-level", "debug", "--quit-timeout", subject.isUpWhileHeld ? "5s" : "300ms"];
      await using started = pod.startEbb(["run", ...named, ...patience, "--", "true"], { env });
      await until("ebb has asked in vain", () => started.stderr().includes('"reason"'));
      await signalEbb(started, "SIGTERM");
      const ended = await endOf(started);
      expect(ended.code).toBe(143);
      if (!subject.isUpWhileHeld) return expect(quitLineOf(ended).outcome).toMatch(/^connection refused/);
      expect(quitLineOf(ended)).toMatchObject({ level: "info", sidecar });
      expect(await container.ended).toBe(subject.exitCode);
    });

    test("a quit ends it; a second one has an answer of its own", async () => {
      await using pod = await startPod();
      const { container } = await startReady(subject, pod);
      const first = await run(pod, ["quit"], env);
      expect(quitLineOf(first)).toMatchObject({
        level: "info",
        sidecar,
        outcome: expect.stringMatching(subject.quitOutcome),
      });
      expect(first.code).toBe(0);
      expect(await container.ended).toBe(subject.exitCode);
      const second = await run(pod, ["quit", ...named, "--quit-timeout", "2s"], env);
      expect(quitLineOf(second).outcome).toMatch(subject.secondQuit.outcome);
      expect(second.code).toBe(subject.secondQuit.code);
    });
  });
}

/** Starts a program in a pod. Resolves once it is ready. Rejects with what it said if it is not ready within 20 s. */
export async function startReady({ start, ready, title }: Subject, pod: Pod): Promise<Beside> {
  const beside = await start(pod);
  const isReady = async (): Promise<boolean> => (await pod.request(ready.at))?.status === ready.status;
  await until(`${title} is ready`, isReady, 20_000).catch((error: Error) => {
    throw new Error(`${error.message}\n${beside.container.log().slice(-3000)}`);
  });
  return beside;
}

/** Waits for ebb's end. Rejects after 30 s with what ebb has said, before Bun ends all processes of the file. */
export async function endOf(started: Started): Promise<Ended> {
  const ended = await within(30_000, started.ended);
  if (ended === undefined) throw new Error(`ebb does not end: ${started.stderr().slice(-3000)}`);
  return ended;
}

/** Runs ebb to its end in a container of a pod. */
export async function run(
  pod: Pod,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  await using started = pod.startEbb(args, { env });
  return await endOf(started);
}

/** Returns how often the most frequent reason was given: a reason is logged when it changes, not at each attempt. */
function mostOften(lines: readonly LogLine[]): number {
  const reasons = Map.groupBy(lines, ({ reason }) => reason);
  return Math.max(0, ...[...reasons.values()].map(({ length }) => length));
}

/** Returns the command line that sends one request to the program, and prints the answer. */
function ask(at: string): readonly string[] {
  return [process.execPath, join(import.meta.dirname, "ask.ts"), at];
}

/** Returns the milliseconds that the quit took, as ebb logged them. */
function quitTook(ended: Ended): number {
  return Number(quitLineOf(ended).tookMs);
}
