import { describe, expect, test } from "bun:test";
import { type Connection, open, send } from "../envoy/traffic.ts";
import { drainLineOf, type Ended, lineOf, quitLineOf, until } from "../harness/ebb.ts";
import { endOf, run, startReady } from "./life.ts";
import { type Container, type Pod, signalEbb, startPod } from "./pod.ts";
import type { Beside, Subject } from "./subject.ts";
import { callOutside, type Outside, startApp, startOutside } from "./traffic.ts";

/** A program that stands before its pod's app. */
export interface Mesh extends Subject {
  /** The port on which the app listens. */
  readonly appPort: number;
  /** The port by which others reach the app, through the proxy. */
  readonly inboundPort: number;
  /** The ports and the host by which the app reaches others, through the proxy. */
  readonly outbound: Outside & { readonly host: (pod: Pod) => string };
}

/** The --min-drain of each drain. */
export const MIN_MS = 1000;
const REQUEST_MS = 4000;
/** The time that a drain may take besides what it waits for: a poll, and a busy machine. */
const SLACK_MS = 1900;
const flags = ["--min-drain", `${MIN_MS}ms`, "--drain", "15s"] as const;

/** Declares the tests of draining a mesh's proxy: what a drain waits for, and what not. */
export function drainTests(mesh: Mesh): void {
  describe(`${mesh.title}: draining it`, () => {
    test("with nothing in flight it ends after the minimum", async () => {
      await using pod = await startPod();
      await startPair(mesh, pod);
      const drained = await drain(mesh, pod);
      expect(drained.came).toEqual({ code: 0, outcome: "drained" });
      expectTook(drained, MIN_MS);
    });

    test("an idle keep-alive connection does not hold it", async () => {
      await using pod = await startPod();
      await startPair(mesh, pod);
      const idle = await idleTo(mesh, pod);
      const drained = await drain(mesh, pod);
      expect(drained.came).toEqual({ code: 0, outcome: "drained" });
      expectTook(drained, MIN_MS);
      expect(idle.isClosed()).toBe(false);
    });

    test("a request holds it until it is answered", async () => {
      await using pod = await startPod();
      const { app } = await startPair(mesh, pod);
      const { answer } = await startRequest(mesh, pod, app);
      const drained = await drain(mesh, pod);
      expect(await answer).toMatchObject({ status: 200, body: `/wait/${REQUEST_MS}` });
      expect(drained.came).toEqual({ code: 0, outcome: "drained" });
      expectTook(drained, REQUEST_MS);
      expect(lineOf(drained.ended, "in flight")).toMatchObject({ requests: 1 });
    });

    test("what the app holds open to others does not hold it, and goes on", async () => {
      await using pod = await startPod();
      await using _ = await startOutside(mesh.outbound);
      await startPair(mesh, pod);
      const caller = await callOutside(pod, mesh.outbound.host(pod), mesh.outbound);
      const drained = await drain(mesh, pod);
      expect(drained.came).toEqual({ code: 0, outcome: "drained" });
      expectTook(drained, MIN_MS);
      expect(caller.isRunning()).toBe(true);
    });

    test("with --quit it is gone after the request, which was answered", async () => {
      await using pod = await startPod();
      const { beside, app } = await startPair(mesh, pod);
      const { answer } = await startRequest(mesh, pod, app);
      const drained = await drain(mesh, pod, ["--then-quit"]);
      expect(await answer).toMatchObject({ status: 200 });
      expect(drained.came).toEqual({ code: 0, outcome: "drained" });
      expect(quitLineOf(drained.ended)).toMatchObject({ level: "info", outcome: "exited" });
      expect(await beside.container.ended).toBe(mesh.exitCode);
    });

    test("an app that starts again takes the drain back", async () => {
      await using pod = await startPod();
      await startPair(mesh, pod);
      await drain(mesh, pod);
      await using started = pod.startEbb(["run", "--drain", "15s", "--", "sleep", "60"], { env: mesh.env });
      await until("the app runs", () => started.stderr().includes("started"));
      await until("ebb says so", () =>
        started.stderr().includes("Envoy was still draining for the previous container"),
      );
    });

    test("a drain ends with the program, where that is killed", async () => {
      await using pod = await startPod();
      const { beside, app } = await startPair(mesh, pod);
      await startRequest(mesh, pod, app, 20_000);
      await using started = pod.startEbb(["drain", ...flags], { env: mesh.env });
      await until("draining the listeners", () => started.stderr().includes("draining the listeners"));
      beside.container.kill("SIGKILL");
      const drained = drainedOf(await endOf(started));
      expect(drained.came).toEqual({
        code: 0,
        outcome: expect.stringMatching(/^Envoy exited during the drain, /),
      });
      expectTook(drained, MIN_MS);
    });

    test("a stop signal drains it before it reaches the app", async () => {
      await using pod = await startPod();
      const { beside, app } = await startPair(mesh, pod);
      const words = ["--drain", "15s", "--min-drain", `${MIN_MS}ms`, "--", "sleep", "60"];
      await using started = pod.startEbb(["run", ...words], { env: mesh.env });
      await until("the app runs", () => started.stderr().includes("started"));
      const { answer } = await startRequest(mesh, pod, app);
      await signalEbb(started, "SIGTERM");
      const ended = await endOf(started);
      expect(await answer).toMatchObject({ status: 200 });
      expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
      expectTook(drainedOf(ended), REQUEST_MS);
      expect(ended.code).toBe(143);
      expect(await beside.container.ended).toBe(mesh.exitCode);
    });
  });
}

/** A program that is ready, and an app that others reach through it. */
interface Pair {
  readonly beside: Beside;
  readonly app: Container;
}

/** Starts both in a pod. Resolves once the app is reached through the program. */
export async function startPair(mesh: Mesh, pod: Pod): Promise<Pair> {
  const [beside, app] = await Promise.all([startReady(mesh, pod), startApp(pod, mesh.appPort)]);
  await until("the app is reached through the proxy", () => isReached(mesh, pod));
  return { beside, app };
}

async function isReached({ inboundPort }: Mesh, pod: Pod): Promise<boolean> {
  try {
    return (await fetch(`http://${pod.address}:${inboundPort}/first`, { headers: { connection: "close" } })).ok;
  } catch {
    return false; // not yet
  }
}

/** Opens a connection to the app, and resolves once a request on it is answered. */
async function idleTo({ inboundPort }: Mesh, pod: Pod): Promise<Connection> {
  const connection = await open(inboundPort, pod.address);
  await send(connection, "/idle");
  return connection;
}

/** Sends a request that takes `ms`, on a connection that has served another one. Resolves once the app has it. */
async function startRequest(mesh: Mesh, pod: Pod, app: Container, ms = REQUEST_MS): Promise<Request> {
  const connection = await idleTo(mesh, pod);
  const answer = send(connection, `/wait/${ms}`).finally(() => connection.socket.destroy());
  answer.catch(() => undefined); // a test need not look at an answer that is broken off
  await until("the app has the request", () => app.log().includes(`/wait/${ms}\n`));
  return { answer };
}

interface Request {
  readonly answer: ReturnType<typeof send>;
}

/** The result of a drain. */
interface Drained {
  readonly ended: Ended;
  /** ebb's exit code, and the outcome that it logged. */
  readonly came: { readonly code: number; readonly outcome: unknown };
  /** The time that it took, as ebb logged it. */
  readonly tookMs: number;
}

/** Drains the pod's sidecars, for 15 s at most. */
export async function drain({ env }: Mesh, pod: Pod, more: readonly string[] = []): Promise<Drained> {
  return drainedOf(await run(pod, ["drain", ...flags, ...more], env));
}

function drainedOf(ended: Ended): Drained {
  const { outcome, tookMs } = drainLineOf(ended);
  return { ended, came: { code: ended.code, outcome }, tookMs: Number(tookMs) };
}

/** Expects that a drain took as long as what it waits for: at most 500 ms less, and 1.9 s more. */
export function expectTook({ tookMs }: Drained, ms: number): void {
  expect(tookMs).toBeGreaterThan(ms - 500);
  expect(tookMs).toBeLessThan(ms + SLACK_MS);
}
