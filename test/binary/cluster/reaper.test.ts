import { expect, test } from "bun:test";
import { until } from "../../harness/ebb.ts";
import { podPath } from "../../stand-in/api-server/api-server.ts";
import { nonEmpty, type Reaper, running, startCluster, startReaper, startResyncing, stuckPod } from "./reaper.ts";
import { ended, LONG_MS, metric } from "./reaper-calls.ts";

test.concurrent("the reaper ends pods that were stuck before it started, and those that get stuck later, each once", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("early"));
  cluster.put(stuckPod("busy", { state: running }));
  await using reaper = await startReaper(cluster, "--after", "1s");
  await ended(reaper, 1);
  cluster.put(stuckPod("busy", { secondsAgo: 0 }));
  cluster.put(stuckPod("new", { secondsAgo: 0 }));
  await ended(reaper, 3);
  expect(cluster.told.toSorted()).toEqual(["busy", "early", "new"]);
  expect(await metric(reaper, 'ebb_reaper_acts_total{method="ephemeral",result="taken"}')).toBe(3);
  expect(await metric(reaper, 'ebb_reaper_attempts_total{outcome="ended"}')).toBe(3);
  expect(await metric(reaper, "ebb_reaper_end_to_ended_seconds_count")).toBe(3);
  expect(await metric(reaper, 'ebb_reaper_pods{reason="stuck"}')).toBe(0);
});

test.concurrent("a metric tells how many running pods asked for ebb and have none, and how many have it from another image", async () => {
  await using cluster = startCluster();
  const asks = { "ebb.dev/inject": "true" };
  const put = (name: string, annotations: object, image?: string) => {
    const pod = stuckPod(name, { state: running, annotations });
    if (image !== undefined) pod.spec.initContainers = [{ name: "ebb-install", image }];
    cluster.put(pod);
  };
  const changed = { ...asks, "ebb.dev/status": "{}" };
  const byHand = stuckPod("by-hand", { state: running, annotations: asks });
  byHand.spec.containers[0].command = ["/ebb.dev/ebb", "run", "--", "/app"];
  cluster.put(byHand);
  put("bare", asks);
  put("bare-too", asks);
  put("fine", changed, "registry.example.com/ebb:1");
  put("old", changed, "registry.example.com/ebb:0");
  put("not-asked", { "ebb.dev/inject": "false" });
  put("skipped", { "ebb.dev/status": '{"skipped":"why"}' });
  await using reaper = await startReaper(cluster);
  const states = async () => {
    const all = ["missing", "skipped", "other", "injected"].map(
      (state) => `ebb_reaper_injection_pods{state="${state}"}`,
    );
    return String(await Promise.all(all.map((line) => metric(reaper, line))));
  };
  await until("all are counted", async () => (await states()) === "2,1,1,2" || undefined, LONG_MS);
  cluster.api.remove(podPath("shop", "bare"));
  put("old", changed, "registry.example.com/ebb:1");
  await until("and again", async () => (await states()) === "1,1,0,3" || undefined, LONG_MS);
});

test.concurrent("a stop signal ends it with 0, also while a sidecar has its time to exit", async () => {
  await using cluster = startCluster();
  cluster.onTold = () => undefined;
  cluster.put(stuckPod("slow"));
  await using reaper = await startReaper(cluster);
  await until("it is told", () => nonEmpty(reaper.said("asked a sidecar to exit")), LONG_MS);
  reaper.started.kill("SIGTERM");
  expect((await reaper.started.ended).code).toBe(0);
});

test.concurrent("a reaper that is killed while a sidecar exits, and started again, asks the sidecar again, and the pod ends", async () => {
  await using cluster = startCluster();
  const finish: (() => void)[] = [];
  cluster.onTold = (_, end) => finish.push(end);
  cluster.put(stuckPod("slow"));
  await using first = await startReaper(cluster);
  await until("it is told", () => cluster.told.length === 1 || undefined, LONG_MS);
  first.started.kill("SIGKILL");
  await first.started.ended;
  const pod = cluster.pod("slow");
  const state = { terminated: { exitCode: 0, reason: "Completed", finishedAt: new Date().toISOString() } };
  cluster.put({ ...pod, status: { ...pod.status, ephemeralContainerStatuses: [{ name: "ebb-reaper-1", state }] } });
  await using second = await startReaper(cluster);
  await until("it is told again", () => cluster.told.length === 2 || undefined, LONG_MS);
  for (const end of finish) end();
  await ended(second, 1);
});

test.concurrent("a mistake that only the author can mend is logged once, and is an Event on the pod or namespace that has it", async () => {
  await using cluster = startCluster();
  const badUrl = { "ebb.dev/reap": "true", "ebb.dev/reap-quit.envoy": "localhost:9901/quit" };
  const inBank = { annotations: {} };
  cluster.put(stuckPod("odd-word", { annotations: { "ebb.dev/reap": "yes" }, state: running }));
  cluster.put(stuckPod("bad-url", { annotations: badUrl }));
  cluster.api.put("/api/v1/namespaces/bank", { metadata: { name: "bank", labels: { "ebb.dev/reap": "on" } } });
  for (const name of ["one", "two"]) {
    const pod = stuckPod(name, inBank);
    cluster.api.put(podPath("bank", name), { ...pod, metadata: { ...pod.metadata, namespace: "bank" } });
  }
  await using first = await startResyncing(cluster);
  const seen = () => cluster.events().filter(({ reason }) => reason === "NotReaped");
  await until("three Events", () => seen().length === 3, LONG_MS);
  const told = seen().map(({ regarding: { kind, namespace, name }, note }) => `${kind} ${namespace}/${name}: ${note}`);
  expect(told.toSorted()).toEqual([
    'Namespace bank/bank: namespace bank: its label ebb.dev/reap: expected true or false, got "on"',
    expect.stringMatching(/^Pod shop\/bad-url: ebb.dev\/reap-quit.envoy: expected a URL on the pod's loopback/),
    'Pod shop/odd-word: its annotation ebb.dev/reap: expected true or false, got "yes"',
  ]);
  const listed = () => cluster.api.requests.filter((each) => /^GET \/api\/v1\/pods\?(?!.*watch)/.test(each)).length;
  const before = listed();
  await until("all are listed again, twice", () => listed() >= before + 2, LONG_MS);
  const named = (reaper: Reaper) =>
    reaper.said("cannot reap: the pod or namespace needs a change").map(({ namespace, pod }) => [namespace, pod]);
  expect(named(first).toSorted()).toEqual([
    ["bank", undefined],
    ["shop", "bad-url"],
    ["shop", "odd-word"],
  ]);
  first.started.kill("SIGTERM");
  await first.started.ended;
  await using second = await startResyncing(cluster);
  await until("the next says it too", () => named(second).length === 3, LONG_MS);
  cluster.put(stuckPod("odd-word", { annotations: { "ebb.dev/reap": "ja" }, state: running }));
  await until("another word is another Event", () => seen().length === 4, LONG_MS);
});

test.concurrent("a namespace that is not there is named once, and counts once it is there", async () => {
  await using cluster = startCluster();
  await using reaper = await startResyncing(cluster, "--namespace", "bank", "--dry-run");
  const asked = () => cluster.api.requests.filter((each) => each === "GET /api/v1/namespaces/bank").length;
  await until("it is asked for again", () => asked() >= 3, LONG_MS);
  const said = () => reaper.said("no such namespace: waiting for it");
  expect(said()).toMatchObject([{ level: "warn", namespace: "bank" }]);
  cluster.api.put("/api/v1/namespaces/bank", { metadata: { name: "bank", labels: { "ebb.dev/reap": "true" } } });
  const pod = stuckPod("done", { annotations: {} });
  cluster.api.put(podPath("bank", "done"), { ...pod, metadata: { ...pod.metadata, namespace: "bank" } });
  await until("its pod is looked after", () => reaper.said("pod is stuck").length > 0, LONG_MS);
});
