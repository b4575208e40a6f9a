import { expect, test } from "bun:test";
import { createApiClient } from "../../../../src/cluster/api/client.ts";
import type { Interruption } from "../../../../src/cluster/controller/reflector.ts";
import { createRateLimit, throttleClient } from "../../../../src/cluster/controller/throttle.ts";
import type { PodView } from "../../../../src/cluster/reaper/core/pod-view.ts";
import { type PodSource, type WatchedPods, watchPods } from "../../../../src/cluster/reaper/pods.ts";
import { until } from "../../../harness/ebb.ts";
import { podPath, refuse, type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";
import { podOf, running } from "./core/stuck-pods.ts";

const LONG_MS = 30_000;
const everything: WatchedPods = { namespaces: [], selector: undefined, resyncMs: 3_600_000 };

interface Watched extends AsyncDisposable {
  readonly source: PodSource;
  /** `a 1` for pod a, of UID 1, as it is seen, `1 -` once it is gone, `shop` if the label of the namespace changed. */
  readonly seen: string[];
  readonly interruptions: Interruption[];
  readonly log: ReturnType<typeof collectLog>;
}

function watch(api: StandInApi, which: Partial<WatchedPods> = {}): Watched {
  const log = collectLog();
  const stop = new AbortController();
  const seen: string[] = [];
  const interruptions: Interruption[] = [];
  const client = createApiClient({ server: api.url, namespace: "x", identity: async () => ({ headers: {} }) });
  const gated = throttleClient(client, createRateLimit({ perSecond: 1e6, burst: 1e6 }));
  const source = watchPods(gated, { ...everything, ...which }, log, (why) => interruptions.push(why));
  const tell = {
    changed: ({ name, uid }: PodView) => void seen.push(`${name} ${uid}`),
    gone: (uid: string) => void seen.push(`${uid} -`),
    namespaceChanged: (name: string) => void seen.push(name),
  };
  const done = source.run(tell, stop.signal);
  const dispose = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  return { source, seen, interruptions, log, [Symbol.asyncDispose]: dispose };
}

function put(api: StandInApi, name: string, uid: string, more: Record<string, unknown> = {}, namespace = "shop"): void {
  const pod = podOf({ containers: { app: running }, ...more });
  api.put(podPath(namespace, name), { ...pod, metadata: { ...(pod.metadata as object), name, namespace, uid } });
}

const synced = ({ source }: Watched) =>
  until("all pods are listed", () => source.syncedAt() !== undefined || undefined, LONG_MS);
const told = ({ seen }: Watched, what: string) => until(what, () => seen.includes(what) || undefined, LONG_MS);

test.concurrent("a watch tells of every pod that runs, of each change, and of the end; the server leaves out the others", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  put(api, "over", "2", { status: { phase: "Succeeded" } });
  await using watched = watch(api);
  await synced(watched);
  put(api, "b", "3");
  await told(watched, "b 3");
  put(api, "a", "1", { status: { phase: "Failed" } });
  await told(watched, "1 -");
  api.remove(podPath("shop", "b"));
  await told(watched, "3 -");
  expect(watched.seen).toEqual(["a 1", "b 3", "1 -", "3 -"]);
});

test.concurrent("pods that are listed again, after a watch has expired, are told of again", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  await using watched = watch(api);
  await synced(watched);
  await until("it watches", () => api.watchers === 2 || undefined, LONG_MS);
  api.cut(true);
  await until("it is told of again", () => watched.seen.length === 2 || undefined, LONG_MS);
  expect(watched.seen).toEqual(["a 1", "a 1"]);
  expect(watched.interruptions).toEqual(["expired"]);
});

test.concurrent("a pod of the same name is another one", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  await using watched = watch(api);
  await synced(watched);
  api.remove(podPath("shop", "a"));
  put(api, "a", "2");
  await told(watched, "a 2");
  expect(watched.seen).toEqual(["a 1", "1 -", "a 2"]);
});

test.concurrent("many are listed in pages", async () => {
  await using api = startStandInApi();
  for (let at = 0; at < 1201; at += 1) put(api, `p${at}`, String(at));
  await using watched = watch(api);
  await synced(watched);
  expect(new Set(watched.seen).size).toBe(1201);
  const lists = api.requests.filter((each) => each.includes("/pods") && !each.includes("watch="));
  expect(lists.map((each) => new URL(each.slice(4), api.url).searchParams.get("continue"))).toEqual([
    null,
    "500",
    "1000",
  ]);
});

test.concurrent("a watch that ends goes on where it was: nothing is listed again, nothing missed", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  await using watched = watch(api);
  await synced(watched);
  await until("it watches", () => api.watchers === 2 || undefined, LONG_MS);
  put(api, "b", "2");
  await told(watched, "b 2");
  api.cut();
  await until("it watches again", () => api.watchers === 2 || undefined, LONG_MS);
  put(api, "c", "3");
  await told(watched, "c 3");
  expect(watched.seen).toEqual(["a 1", "b 2", "c 3"]);
  expect(watched.interruptions).toEqual(["ended"]);
});

test.concurrent("an expired version (410): the reaper lists all pods again, and reports those that are gone", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  put(api, "b", "2");
  await using watched = watch(api);
  await synced(watched);
  await until("it watches", () => api.watchers === 2 || undefined, LONG_MS);
  api.objects.delete(podPath("shop", "a")); // without a word to those who watch
  api.cut(true);
  await told(watched, "1 -");
  expect(watched.seen.filter((each) => each.endsWith("-"))).toEqual(["1 -"]);
  expect(watched.interruptions).toEqual(["expired"]);
  expect(watched.log.lines.filter(({ message }) => message.includes("pods"))).toEqual([]);
});

test.concurrent("an API server that is unwell: the watch goes on once it is well, and the log complains once", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  let refused = 0;
  api.answer = ({ url }) => {
    const isPods = url.includes("/pods");
    if (!isPods || refused === 3) return undefined;
    refused += 1;
    return refuse(503, "starting");
  };
  await using watched = watch(api);
  await synced(watched);
  expect(watched.seen).toEqual(["a 1"]);
  const complaints = watched.log.lines.filter(({ message }) => message === "cannot watch pods: retrying");
  expect(complaints).toHaveLength(1);
});

test.concurrent("a watch that fails again and again is complained of once", async () => {
  await using api = startStandInApi();
  let refused = 0;
  api.answer = (_, { pathname, searchParams }) => {
    if (!pathname.endsWith("/pods") || !searchParams.has("watch")) return undefined;
    refused += 1;
    return refuse(503, "starting");
  };
  await using watched = watch(api);
  await until("it fails three times", () => refused === 3, LONG_MS);
  expect(watched.log.lines.map(({ message, fields }) => [message, fields.reason])).toEqual([
    [
      "cannot watch pods: retrying",
      "GET /api/v1/pods?watch=1&allowWatchBookmarks=true&fieldSelector=status.phase=Running: 503 starting",
    ],
  ]);
});

test.concurrent("a server that has too much to do is asked when it says", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  const times: number[] = [];
  api.answer = ({ url }) => {
    if (!url.includes("/pods")) return undefined;
    times.push(performance.now());
    return times.length === 1 ? refuse(429, "busy", { "retry-after": "2" }) : undefined;
  };
  await using watched = watch(api);
  await synced(watched);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1950);
});

test.concurrent("the reaper lists all pods again at times, and finds what the watch left out", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  await using watched = watch(api, { resyncMs: 200 });
  await synced(watched);
  api.objects.delete(podPath("shop", "a"));
  await told(watched, "1 -");
});

test.concurrent("of some namespaces each is asked alone, and what those say is read one by one", async () => {
  await using api = startStandInApi();
  put(api, "a", "1", {}, "shop");
  put(api, "b", "2", {}, "bank");
  put(api, "c", "3", {}, "other");
  api.put("/api/v1/namespaces/bank", { metadata: { name: "bank", labels: { "ebb.dev/reap": "false" } } });
  await using watched = watch(api, { namespaces: ["shop", "bank"], selector: undefined });
  await synced(watched);
  expect(watched.seen.toSorted()).toEqual(["a 1", "b 2", "bank"]);
  expect([...watched.source.namespaces()]).toEqual([["bank", "false"]]);
  const asked = api.requests.map((each) => each.split("?")[0]).slice(0, 2);
  expect(asked).toEqual(["GET /api/v1/namespaces/shop", "GET /api/v1/namespaces/bank"]);
});

test.concurrent("--selector goes to the API server", async () => {
  await using api = startStandInApi();
  put(api, "a", "1", { labels: { team: "x" } });
  put(api, "b", "2");
  await using watched = watch(api, { selector: "team=x" });
  await synced(watched);
  expect(watched.seen).toEqual(["a 1"]);
});

test.concurrent("a namespace's word is known before its pods are, and a change of it is told", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  const path = "/api/v1/namespaces/shop";
  api.put(path, { metadata: { name: "shop", labels: { "ebb.dev/reap": "true" } } });
  await using watched = watch(api);
  await synced(watched);
  expect([...watched.source.namespaces()]).toEqual([["shop", "true"]]);
  await until("it watches", () => api.watchers === 2 || undefined, LONG_MS);
  api.put(path, { metadata: { name: "shop", labels: { "ebb.dev/reap": "false" } } });
  await until("it is told", () => watched.seen.length === 3 || undefined, LONG_MS);
  api.put(path, { metadata: { name: "shop" } });
  await until("and again", () => watched.seen.length === 4 || undefined, LONG_MS);
  expect(watched.seen).toEqual(["shop", "a 1", "shop", "shop"]);
  expect([...watched.source.namespaces()]).toEqual([]);
});

test.concurrent("a named namespace's word is read again within seconds, not only at a resync", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  const path = "/api/v1/namespaces/shop";
  api.put(path, { metadata: { name: "shop", labels: { "ebb.dev/reap": "true" } } });
  await using watched = watch(api, { namespaces: ["shop"] });
  await synced(watched);
  api.put(path, { metadata: { name: "shop", labels: { "ebb.dev/reap": "false" } } });
  await until("it is told", () => watched.seen.length === 3 || undefined, LONG_MS);
  expect(watched.seen).toEqual(["shop", "a 1", "shop"]);
  expect([...watched.source.namespaces()]).toEqual([["shop", "false"]]);
});

test.concurrent("a reaper that may not list namespaces logs that once, and goes on with pods", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  api.answer = ({ url }) => (url.includes("/api/v1/namespaces?") ? refuse(403, "cannot list namespaces") : undefined);
  await using watched = watch(api);
  await told(watched, "a 1");
  const asked = () => api.requests.filter((each) => each.includes("/api/v1/namespaces?")).length;
  await until("it asks again", () => asked() > 2 || undefined, LONG_MS);
  expect(watched.log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "warn cannot watch namespaces: retrying",
  ]);
});

test.concurrent("a namespace's word is known soon after it may be read, not only at a resync", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  api.put("/api/v1/namespaces/shop", { metadata: { name: "shop", labels: { "ebb.dev/reap": "false" } } });
  let refused = 0;
  api.answer = (_, { pathname }) => {
    if (pathname !== "/api/v1/namespaces" || refused === 2) return undefined;
    refused += 1;
    return refuse(403, "cannot list namespaces");
  };
  await using watched = watch(api);
  await until("it is told", () => watched.seen.includes("shop"), LONG_MS);
  expect([...watched.source.namespaces()]).toEqual([["shop", "false"]]);
});

test.concurrent("a named namespace's label stays known while the namespace may not be read", async () => {
  await using api = startStandInApi();
  put(api, "a", "1");
  api.put("/api/v1/namespaces/shop", { metadata: { name: "shop", labels: { "ebb.dev/reap": "false" } } });
  await using watched = watch(api, { namespaces: ["shop"] });
  await synced(watched);
  let asked = 0;
  api.answer = (_, { pathname }) => {
    if (pathname !== "/api/v1/namespaces/shop") return undefined;
    asked += 1;
    return refuse(403, "cannot get namespaces");
  };
  await until("it is refused twice", () => asked === 2, LONG_MS); // it has then taken the first answer
  expect([...watched.source.namespaces()]).toEqual([["shop", "false"]]);
});
