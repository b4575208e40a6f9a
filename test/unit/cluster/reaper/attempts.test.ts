import { afterEach, beforeEach, expect, test } from "bun:test";
import type { KubeObject } from "../../../../src/cluster/api/client.ts";
import type { StepContext } from "../../../../src/cluster/reaper/attempt-step.ts";
import { type Attempts, createAttempts } from "../../../../src/cluster/reaper/attempts.ts";
import { type MethodKind, methodKinds } from "../../../../src/cluster/reaper/core/methods.ts";
import { type Observation, type Outcome, observationOf } from "../../../../src/cluster/reaper/core/reconcile.ts";
import type { Verdict } from "../../../../src/cluster/reaper/core/verdict.ts";
import { createSender } from "../../../../src/cluster/reaper/methods/send.ts";
import { type FakeClock, stopClock } from "../../../fake-clock.ts";
import { onChannel, refuse, type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";
import { ended, type Json, podOf, running } from "./core/stuck-pods.ts";

const PATH = "/api/v1/namespaces/shop/pods/p";
const success = onChannel(3, JSON.stringify({ status: "Success" }));
const noCommand = onChannel(3, JSON.stringify({ status: "Failure", message: "no such file or directory" }));

let clock: FakeClock;
beforeEach(() => {
  clock = stopClock();
});
afterEach(() => clock[Symbol.dispose]());

/** A pod that an Envoy is left in, unless that has ended, too. */
function podWith(envoy: Json, uid = "uid-1", annotations: Json = { "ebb.dev/reap-exec.envoy": "/stop" }): Json {
  const labels = { "ebb.dev/reap": "true" };
  const metadata = { name: "p", namespace: "shop", uid, resourceVersion: "7", labels, annotations };
  return podOf({ containers: { app: ended(0), envoy }, metadata });
}

/** A cluster with that pod, where a command ends Envoy. `watched` is what a watch has seen of it. */
function arrange(): StandInApi & { readonly watched: () => KubeObject } {
  const cluster = startStandInApi();
  cluster.objects.set(PATH, podWith(running));
  cluster.exec = {
    open(far) {
      cluster.objects.set(PATH, podWith(ended(0)));
      far.send(success);
    },
  };
  return Object.assign(cluster, { watched: () => cluster.objects.get(PATH) as KubeObject });
}

interface Told {
  readonly attempts: Attempts;
  readonly log: ReturnType<typeof collectLog>;
  readonly told: string[];
  begin(): void;
  /** Returns what is seen of a pod. */
  observed(pod: unknown): Observation;
  /** Takes step after step, each at its time, to the outcome; undefined: it was stopped before. */
  reap(): Promise<Outcome | undefined>;
  readonly stop: AbortController;
}

interface Given extends Partial<StepContext> {
  readonly methods?: readonly MethodKind[];
  /** Returns what a watch has seen of the pod. Undefined: nothing is watched. */
  readonly watched?: () => KubeObject;
  /** Called before a request is sent. */
  readonly before?: () => void;
}

function attemptsAt(cluster: StandInApi, { methods = methodKinds, watched, before, ...rest }: Given = {}): Told {
  const log = collectLog();
  const told: string[] = [];
  const stop = new AbortController();
  const turn = async () => undefined;
  const policy = { afterMs: 0, allJobs: false, allowsReapExec: true, methods, namespaces: new Map() };
  const send = createSender({ api: cluster.api, turn, image: "i", log });
  const attempts = createAttempts({
    ...{ api: cluster.api, turn },
    send(request, target) {
      before?.();
      return send(request, target);
    },
    policy: () => policy,
    memoryOf: () => ({ now: Date.now() }),
    polls: watched === undefined,
    events: { write: async (_, { reason, note }) => void told.push(`${reason}: ${note}`) },
    metrics: { sent: (method, result) => told.push(`${method}: ${result}`), attempted: (kind) => told.push(kind) },
    log,
    ...rest,
  });
  const observed = (pod: unknown) => observationOf(pod, "uid-1", policy, { now: Date.now() });
  const begin = () => attempts.begin(podWith(running) as unknown as KubeObject, observed(podWith(running)) as Verdict);
  const reap = async (): Promise<Outcome | undefined> => {
    begin();
    for (;;) {
      if (watched !== undefined) attempts.changed("uid-1", observed(watched()));
      const step = await attempts.step("uid-1", stop.signal);
      if (typeof step !== "number") return step;
      if (stop.signal.aborted) return undefined;
      clock.pass(step);
    }
  };
  return { attempts, log, told, begin, observed, reap, stop };
}

const why = "the app has ended and will not restart (app: exit code 0), but envoy still runs";
const asked = `SidecarAsked: asked envoy to exit: ${why}; by exec in envoy: /stop`;
const said = "SidecarsEnded: ended: envoy, by exec in envoy: /stop";

test("a look, a request, and its end as the watch sees it; nothing is left behind", async () => {
  await using cluster = arrange();
  const { told, reap, attempts, log } = attemptsAt(cluster, { watched: cluster.watched });
  expect(await reap()).toMatchObject({ kind: "ended", requests: [{ container: "envoy", method: { kind: "exec" } }] });
  expect(told).toEqual(["exec: taken", asked, "ended", said]);
  const stream = `STREAM ${PATH}/exec?container=envoy&stdout=true&stderr=true&command=%2Fstop v5.channel.k8s.io`;
  expect(cluster.requests).toEqual([`GET ${PATH}`, stream]);
  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "info asked a sidecar to exit",
    "info sidecars ended",
  ]);
  expect(attempts.size).toBe(0);
  await clock.until("the stream is closed", () => cluster.opened === 1 && cluster.closed === 1);
});

test("where nothing is watched the pod is read until it has ended", async () => {
  await using cluster = arrange();
  const { reap, told } = attemptsAt(cluster);
  expect(await reap()).toMatchObject({ kind: "ended" });
  expect(told).toEqual(["exec: taken", asked, "ended", said]);
});

test("one method after the other, until one works", async () => {
  await using cluster = arrange();
  const { exec } = cluster;
  cluster.exec = { open: (far) => far.send(noCommand) };
  cluster.portforward = {
    open(far) {
      for (const channel of [0, 1]) far.send(onChannel(channel, "12"));
    },
    message(far, bytes, url) {
      expect(Buffer.from(bytes).toString()).toStartWith("\0POST /quitquitquit HTTP/1.1\r\n");
      far.send(onChannel(0, "HTTP/1.1 200 OK\r\n\r\n"));
      exec.open?.({ ...far, send: () => undefined }, url);
    },
  };
  const { told, reap } = attemptsAt(cluster, { watched: cluster.watched });
  expect(await reap()).toMatchObject({ kind: "ended", requests: [{ method: { kind: "port-forward" } }] });
  expect(told.slice(0, 2)).toEqual(["exec: refused", "port-forward: taken"]);
  expect(told[2]).toEndWith("; by POST localhost:9901/quitquitquit through a port-forward");
});

test("where none works, it is told what each has come to", async () => {
  await using cluster = arrange();
  cluster.exec = { open: (far) => far.send(noCommand) };
  cluster.answer = ({ method }) => (method === "PATCH" ? refuse(403, "not you") : undefined);
  const { reap } = attemptsAt(cluster, {
    methods: ["ephemeral", "exec"],
    watched: cluster.watched,
    refusedRounds: 1,
  });
  expect(await reap()).toMatchObject({
    kind: "gave-up",
    reason:
      "envoy still runs after all methods (ephemeral, exec); if its app is done, delete the pod (its Job counts that as a failure)",
    tried: [
      { method: { kind: "ephemeral" }, why: "403 not you" },
      { method: { kind: "exec" }, why: "no such file or directory" },
    ],
  });
});

test("while the API server is not well it waits, and then goes on", async () => {
  await using cluster = arrange();
  const troubles = [503, 429, 500, undefined, 502, 503];
  cluster.answer = () => {
    const trouble = troubles.shift();
    return trouble === undefined ? undefined : refuse(trouble, "not now");
  };
  const { reap, told } = attemptsAt(cluster, { watched: cluster.watched });
  expect(await reap()).toMatchObject({ kind: "ended" });
  expect(troubles).toEqual([]);
  expect(told.filter((each) => each === "exec: unavailable").length).toBeGreaterThan(0);
});

test.each([
  ["before the sidecar is asked", 0],
  ["while it has its time to exit", 1],
])("a pod that cannot be read is put off at last: %s", async (_, opened) => {
  await using cluster = arrange();
  cluster.exec = { open: (far) => far.send(success) };
  cluster.answer = () => (cluster.opened >= opened ? refuse(503, "unwell") : undefined);
  expect(await attemptsAt(cluster).reap()).toEqual({ kind: "put-off", reason: `GET ${PATH}: 503 unwell` });
});

test("after a failed read it rests, also while the sidecar has its time to exit", async () => {
  await using cluster = arrange();
  cluster.exec = { open: (far) => far.send(success) };
  const { attempts, begin, stop } = attemptsAt(cluster);
  begin();
  let step = await attempts.step("uid-1", stop.signal);
  expect(step).toBe(2000);
  cluster.answer = () => refuse(503, "unwell");
  for (let reads = 0; reads < 5; reads++) {
    clock.pass(step as number);
    step = await attempts.step("uid-1", stop.signal);
  }
  expect(step).toBeGreaterThan(7000);
});

test("reads that fail now and then do not add up", async () => {
  await using cluster = arrange();
  cluster.exec = { open: (far) => far.send(success) };
  let reads = 0;
  cluster.answer = () => {
    if (cluster.opened === 0 || ++reads % 2 === 0) return undefined;
    if (reads === 21) cluster.objects.set(PATH, podWith(ended(0)));
    return refuse(503, "unwell");
  };
  expect(await attemptsAt(cluster).reap()).toMatchObject({ kind: "ended" });
});

test("it comes back when the API server says", async () => {
  await using cluster = arrange();
  cluster.answer = () => refuse(429, "busy", { "retry-after": "2" });
  const { attempts, begin, stop } = attemptsAt(cluster, { watched: cluster.watched });
  begin();
  expect(await attempts.step("uid-1", stop.signal)).toBe(2000);
});

test("who may not look is told so in the server's words", async () => {
  await using cluster = arrange();
  cluster.answer = () => refuse(403, 'User "x" cannot get resource "pods"');
  const { reap } = attemptsAt(cluster, { watched: cluster.watched });
  const reason = `GET ${PATH}: 403 User "x" cannot get resource "pods"`;
  expect(await reap()).toEqual({ kind: "put-off", reason });
});

test.each<[string, (cluster: StandInApi) => void]>([
  ["a pod that is gone", (cluster) => cluster.objects.clear()],
  ["another pod of that name", (cluster) => cluster.objects.set(PATH, podWith(running, "uid-2"))],
])("%s is not touched", async (_, change) => {
  await using cluster = arrange();
  const { reap, told } = attemptsAt(cluster, { before: () => change(cluster) });
  expect(await reap()).toEqual({ kind: "gone" });
  expect([told, cluster.opened]).toEqual([["gone"], 0]);
});

test("who opts out between look and act is left alone", async () => {
  await using cluster = arrange();
  const before = (): void => {
    cluster.objects.set(PATH, podWith(running, "uid-1", { "ebb.dev/reap": "false" }));
  };
  const outcome = await attemptsAt(cluster, { before, watched: cluster.watched }).reap();
  expect(outcome).toEqual({ kind: "left", reason: 'its annotation says ebb.dev/reap: "false"' });
  expect(cluster.opened).toBe(0);
});

test("to stop is to do nothing any more: before the first look, and in the middle of an act, which is cut off", async () => {
  await using cluster = arrange();
  const { reap, told, stop } = attemptsAt(cluster, { watched: cluster.watched });
  cluster.exec = { open: () => stop.abort() };
  expect(await reap()).toBeUndefined();
  await clock.until("the stream is closed", () => cluster.closed === 1);
  expect(told).toEqual(["exec: unavailable"]);
  const { length } = cluster.requests;
  expect(await reap()).toBeUndefined();
  expect(cluster.opened).toBe(1);
  expect(cluster.requests.slice(length)).toEqual([]);
});

test("a request that nobody answers is given up, and the next method is tried", async () => {
  await using cluster = arrange();
  cluster.exec = { open: () => clock.pass(30_000) };
  cluster.answer = ({ method }) => (method === "PATCH" ? refuse(422, "no") : undefined);
  const { reap } = attemptsAt(cluster, { methods: ["exec", "ephemeral"], watched: cluster.watched });
  const why = "no answer within 30s";
  expect(await reap()).toMatchObject({ kind: "gave-up", tried: [{ why }, {}, { why }, {}, { why }, {}] });
  await clock.until("the stream is closed", () => cluster.closed === cluster.opened);
});

test("a command that is not begun soon after the look is given up: the next method follows, with its own look", async () => {
  await using cluster = arrange();
  cluster.answer = (_, { pathname }) => {
    if (!pathname.endsWith("/exec")) return undefined;
    cluster.objects.set(PATH, podWith(running, "uid-2"));
    clock.pass(500);
    return new Promise(() => undefined);
  };
  const { reap, told } = attemptsAt(cluster, { methods: ["exec", "port-forward"], watched: cluster.watched });
  expect(await reap()).toEqual({ kind: "gone" });
  const late = "the API server did not open the command within 500ms of the look at the pod";
  expect(told).toEqual(["exec: unavailable", `${asked}; ${late}`, "gone"]);
  expect(cluster.opened).toBe(0);
});

test("what a command does whose stream was given up counts as its doing", async () => {
  await using cluster = arrange();
  cluster.answer = (_, { pathname }) => {
    if (!pathname.endsWith("/exec")) return undefined;
    cluster.objects.set(PATH, podWith(ended(0)));
    clock.pass(500);
    return new Promise(() => undefined);
  };
  const { reap, told } = attemptsAt(cluster, { watched: cluster.watched });
  expect(await reap()).toMatchObject({ kind: "ended", requests: [{ method: { kind: "exec" } }] });
  expect(told.slice(-2)).toEqual(["ended", said]);
});

test("an answer is not waited for where the watch has seen the sidecar's end", async () => {
  await using cluster = arrange();
  cluster.exec = { open: () => cluster.objects.set(PATH, podWith(ended(0))) };
  const { reap, attempts, observed, told } = attemptsAt(cluster, { watched: cluster.watched });
  const outcome = reap();
  await clock.until("the stream is open", () => cluster.opened === 1);
  attempts.changed("uid-1", observed(cluster.watched()));
  clock.pass(1000);
  expect(await outcome).toMatchObject({ kind: "ended", requests: [{}] });
  expect(told).toEqual(["exec: unavailable", asked, "ended", said]);
});

test("a bug is thrown", async () => {
  await using cluster = arrange();
  const send = () => Promise.reject(new TypeError("oops"));
  const failed = await attemptsAt(cluster, { send })
    .reap()
    .catch((error) => error);
  expect(failed).toEqual(new TypeError("oops"));
});

test("a request that a fresh look makes another one is sent as that says", async () => {
  await using cluster = arrange();
  let isChanged = false;
  const before = (): void => {
    if (!isChanged) cluster.objects.set(PATH, podWith(running, "uid-1", { "ebb.dev/reap-exec.envoy": "/other" }));
    isChanged = true;
  };
  const { reap, told } = attemptsAt(cluster, { before, watched: cluster.watched });
  expect(await reap()).toMatchObject({ kind: "ended" });
  expect(told[0]).toBe("exec: taken");
  expect(cluster.requests.filter((each) => each.startsWith("STREAM"))).toEqual([
    expect.stringContaining("command=%2Fother"),
  ]);
});

test("a request that was taken has its Event, also if ebb is stopped meanwhile", async () => {
  await using cluster = arrange();
  const metrics = { sent: () => stop.abort(), attempted: () => undefined };
  const { reap, told, stop } = attemptsAt(cluster, { watched: cluster.watched, metrics });
  expect(await reap()).toBeUndefined();
  expect(told).toEqual([asked]);
});

test("a pod that is gone before a tunnel to it can be opened is gone, also where nothing is watched", async () => {
  await using cluster = arrange();
  cluster.answer = (_, { pathname }) => (pathname.endsWith("/portforward") ? refuse(404, "not found") : undefined);
  const before = (): void => cluster.objects.clear();
  const { reap } = attemptsAt(cluster, { methods: ["port-forward"], before });
  expect(await reap()).toEqual({ kind: "gone" });
});
