import { expect, test } from "bun:test";
import type { Act, Result } from "../../../src/core/reap/attempt-steps.ts";
import { type MethodKind, methodKinds } from "../../../src/core/reap/methods.ts";
import type { KubeObject } from "../../../src/kube/api/client.ts";
import { createActs } from "../../../src/kube/reaper/act/act.ts";
import { type Reaping, reap } from "../../../src/kube/reaper/reap.ts";
import { ended, type Json, podOf, running } from "../../core/reap/stuck-pods.ts";
import { until } from "../../harness.ts";
import { onChannel, refuse, type StandInApi, startStandInApi } from "../api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";

const PATH = "/api/v1/namespaces/shop/pods/p";
const success = onChannel(3, JSON.stringify({ status: "Success" }));
const noCommand = onChannel(3, JSON.stringify({ status: "Failure", message: "no such file or directory" }));

/** A pod that an Envoy is left in, unless that has ended, too. */
function podWith(envoy: Json, uid = "uid-1", annotations: Json = { "ebb.dev/reap-exec.envoy": "/stop" }): Json {
  const labels = { "ebb.dev/reap": "true" };
  const metadata = { name: "p", namespace: "shop", uid, resourceVersion: "7", labels, annotations };
  return podOf({ containers: { app: ended(0), envoy }, metadata });
}

/** A cluster with that pod, where a command ends Envoy. */
function arrange(): StandInApi & { readonly watch: NonNullable<Reaping["follow"]>; readonly watched: () => number } {
  const cluster = startStandInApi();
  const seers = new Set<(pod: KubeObject | undefined) => void>();
  cluster.objects.set(PATH, podWith(running));
  cluster.exec = {
    open(far) {
      const pod = podWith(ended(0));
      cluster.objects.set(PATH, pod);
      far.send(success);
      for (const see of seers) see(pod as unknown as KubeObject);
    },
  };
  return Object.assign(cluster, {
    watched: () => seers.size,
    watch(_: string, see: (pod: KubeObject | undefined) => void) {
      seers.add(see);
      return () => void seers.delete(see);
    },
  });
}

interface Told {
  readonly log: ReturnType<typeof collectLog>;
  readonly told: string[];
  readonly reaping: Reaping;
}

function reapingOf(
  cluster: StandInApi,
  more: Partial<Reaping> & { readonly methods?: readonly MethodKind[] } = {},
): Told {
  const { methods = methodKinds, ...rest } = more;
  const log = collectLog();
  const told: string[] = [];
  const perform = createActs({ api: cluster.api, gate: async () => undefined, image: "i", freshMs: 60_000, log });
  const reaping: Reaping = {
    api: cluster.api,
    perform,
    policy: () => ({ afterMs: 0, allJobs: false, allowsReapExec: true, methods, namespaces: new Map() }),
    known: () => ({ now: Date.now(), handled: new Map([["uid-1", "it is being dealt with"]]), seen: new Map() }),
    before: async (act: Act, reason: string) => void told.push(`before ${act.method.kind}: ${reason}`),
    after: (act: Act, result: Result) => void told.push(`after ${act.method.kind}: ${result.kind}`),
    pace: { rounds: 1, rest: { firstMs: 10, longestMs: 20 } },
    log,
    signal: new AbortController().signal,
    ...rest,
  };
  return { log, told, reaping };
}

const pod = { namespace: "shop", name: "p", uid: "uid-1" };
const why = "the app has ended and will not restart (app: exit code 0), but envoy still runs";

test("a look, word of it, an act, and its end as the watch sees it; nothing is left behind", async () => {
  await using cluster = arrange();
  const { told, reaping } = reapingOf(cluster, { follow: cluster.watch });
  const outcome = await reap(pod, reaping);
  expect(outcome).toMatchObject({ kind: "ended", acts: [{ container: "envoy", method: { kind: "exec" } }] });
  expect(told[0]).toBe(`before exec: ${why}`);
  expect(told).toHaveLength(2);
  const stream = `STREAM ${PATH}/exec?container=envoy&stdout=true&stderr=true&command=%2Fstop v5.channel.k8s.io`;
  expect(cluster.requests.slice(0, 3)).toEqual([`GET ${PATH}`, `GET ${PATH}`, stream]);
  expect(cluster.watched()).toBe(0);
  await until("the stream is closed", () => cluster.opened === 1 && cluster.closed === 1, 30_000);
});

test("where nothing is watched the pod is looked at until it has ended", async () => {
  await using cluster = arrange();
  const { reaping, told } = reapingOf(cluster);
  expect(await reap(pod, reaping)).toMatchObject({ kind: "ended" });
  expect(told).toEqual([`before exec: ${why}`, "after exec: taken"]);
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
  const { told, reaping } = reapingOf(cluster, { follow: cluster.watch });
  expect(await reap(pod, reaping)).toMatchObject({ kind: "ended", acts: [{ method: { kind: "port-forward" } }] });
  expect(told.slice(0, 3)).toEqual([`before exec: ${why}`, "after exec: refused", `before port-forward: ${why}`]);
});

test("where none works, it is told what each has come to", async () => {
  await using cluster = arrange();
  cluster.exec = { open: (far) => far.send(noCommand) };
  cluster.answer = ({ method }) => (method === "PATCH" ? refuse(403, "not you") : undefined);
  const { reaping } = reapingOf(cluster, { methods: ["ephemeral", "exec"], follow: cluster.watch });
  expect(await reap(pod, reaping)).toMatchObject({
    kind: "gave-up",
    reason: "envoy still runs after all methods; if its app is done, delete the pod",
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
  const { reaping, told } = reapingOf(cluster, { follow: cluster.watch });
  expect(await reap(pod, reaping)).toMatchObject({ kind: "ended" });
  expect(troubles).toEqual([]);
  expect(told.filter((each) => each === "after exec: unavailable").length).toBeGreaterThan(0);
});

test("who may not look is told so in the server's words", async () => {
  await using cluster = arrange();
  cluster.answer = () => refuse(403, 'User "x" cannot get resource "pods"');
  const outcome = await reap(pod, reapingOf(cluster, { follow: cluster.watch }).reaping);
  const reason = `GET ${PATH}: 403 User "x" cannot get resource "pods"`;
  expect(outcome).toEqual({ kind: "put-off", reason });
  expect(cluster.watched()).toBe(0);
});

test.each<[string, (cluster: StandInApi) => void]>([
  ["a pod that is gone", (cluster) => cluster.objects.clear()],
  ["another pod of that name", (cluster) => cluster.objects.set(PATH, podWith(running, "uid-2"))],
])("%s is not touched: at the first look, and at the last", async (_, change) => {
  await using cluster = arrange();
  const late = reapingOf(cluster, { follow: cluster.watch, before: async () => change(cluster) });
  expect(await reap(pod, late.reaping)).toEqual({ kind: "gone" });
  expect(late.told).toEqual(["after exec: refused"]);
  expect(await reap(pod, reapingOf(cluster, { follow: cluster.watch }).reaping)).toEqual({ kind: "gone" });
  expect(cluster.opened).toBe(0);
});

test("who opts out between look and act is left alone", async () => {
  await using cluster = arrange();
  const before = async (): Promise<void> => {
    cluster.objects.set(PATH, podWith(running, "uid-1", { "ebb.dev/reap": "false" }));
  };
  const outcome = await reap(pod, reapingOf(cluster, { follow: cluster.watch, before }).reaping);
  expect(outcome).toEqual({ kind: "left", reason: 'its annotation says ebb.dev/reap: "false"' });
  expect(cluster.opened).toBe(0);
});

test("to stop is to do nothing any more: before the first look, and in the middle of an act, which is cut off", async () => {
  await using cluster = arrange();
  const stop = new AbortController();
  cluster.exec = { open: () => stop.abort() };
  const { reaping, told } = reapingOf(cluster, { follow: cluster.watch, signal: stop.signal });
  expect(await reap(pod, reaping)).toEqual({ kind: "stopped" });
  await until("the stream is closed", () => cluster.closed === 1, 30_000);
  expect(told).toEqual([`before exec: ${why}`, "after exec: unavailable"]);
  const { length } = cluster.requests;
  expect(await reap(pod, reaping)).toEqual({ kind: "stopped" });
  expect(cluster.watched()).toBe(0);
  expect(cluster.opened).toBe(1);
  expect(cluster.requests.slice(length).filter((request) => !request.startsWith("GET"))).toEqual([]);
});

test("an act that nobody answers is given up, and the next method is tried", async () => {
  await using cluster = arrange();
  cluster.exec = {};
  cluster.answer = ({ method }) => (method === "PATCH" ? refuse(422, "no") : undefined);
  const pace = { rounds: 1, answerMs: 500, rest: { firstMs: 10, longestMs: 20 } };
  const { reaping } = reapingOf(cluster, { methods: ["exec", "ephemeral"], follow: cluster.watch, pace });
  expect(await reap(pod, reaping)).toMatchObject({ kind: "gave-up", tried: [{ why: "no answer within 500ms" }, {}] });
  await until("the stream is closed", () => cluster.closed === cluster.opened, 30_000);
});

test.each<[string, () => Promise<void>]>([
  ["fails", () => Promise.reject(new Error("no Events for you"))],
  ["takes for ever", () => new Promise(() => undefined)],
])("word of an act that %s does not keep it", async (_, before) => {
  await using cluster = arrange();
  const { reaping, log } = reapingOf(cluster, { follow: cluster.watch, before, pace: { beforeMs: 200 } });
  expect(await reap(pod, reaping)).toMatchObject({ kind: "ended" });
  expect(log.lines.map(({ fields }) => fields.reason)).toEqual(_ === "fails" ? ["no Events for you"] : []);
});

test("to stop does not wait for word of an act", async () => {
  await using cluster = arrange();
  const stop = new AbortController();
  const before = async (): Promise<void> => {
    stop.abort();
    await new Promise(() => undefined);
  };
  const { reaping, told } = reapingOf(cluster, { before, signal: stop.signal, pace: { beforeMs: 2 ** 31 } });
  expect(await reap(pod, reaping)).toEqual({ kind: "stopped" });
  expect(told).toEqual([]);
  expect(cluster.opened).toBe(0);
});

test("a bug is thrown", async () => {
  await using cluster = arrange();
  const perform = () => Promise.reject(new TypeError("oops"));
  const failed = await reap(pod, reapingOf(cluster, { follow: cluster.watch, perform }).reaping).catch(
    (error) => error,
  );
  expect(failed).toEqual(new TypeError("oops"));
  expect(cluster.watched()).toBe(0);
});
