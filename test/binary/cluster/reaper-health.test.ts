import { expect, test } from "bun:test";
import { until } from "../../harness/ebb.ts";
import { refuse } from "../../stand-in/api-server/api-server.ts";
import { nonEmpty, running, startCluster, startReaper, stuckPod } from "./reaper.ts";
import { ended, LONG_MS, metric } from "./reaper-calls.ts";

test("the reaper warns once if no pod is selected", async () => {
  const nobody = "no pod is selected: no namespace or pod has opted in";
  await using cluster = startCluster();
  cluster.put(stuckPod("mute", { annotations: {} }));
  await using idle = await startReaper(cluster);
  const [line] = await until("it is said", () => nonEmpty(idle.said(nobody)), LONG_MS);
  expect(line).toMatchObject({ level: "warn", pods: 1, how: expect.stringContaining("ebb.dev/reap=true") });
  cluster.put(stuckPod("says-yes", { state: running }));
  await using busy = await startReaper(cluster);
  await until("it is ready", async () => (await fetch(`${busy.health}/readyz`)).ok || undefined, LONG_MS);
  busy.started.kill("SIGTERM");
  await busy.started.ended;
  expect(busy.said(nobody)).toEqual([]);
});

test("/readyz and /healthz: ready once all pods are listed, and well while the API server is not", async () => {
  await using cluster = startCluster();
  let isWell = false;
  const { answer } = cluster.api;
  cluster.api.answer = (request, url) => (isWell ? answer?.(request, url) : refuse(503, "starting"));
  await using reaper = await startReaper(cluster);
  await until("it asked", () => nonEmpty(cluster.api.requests), LONG_MS);
  expect((await fetch(`${reaper.health}/readyz`)).status).toBe(503);
  expect((await fetch(`${reaper.health}/healthz`)).status).toBe(200);
  isWell = true;
  await until("it is ready", async () => (await fetch(`${reaper.health}/readyz`)).ok || undefined, LONG_MS);
});

test("a missing right is the reaper's own state, and no sidecar's; once granted, it goes on", async () => {
  await using cluster = startCluster();
  const right = "patch pods/ephemeralcontainers";
  cluster.api.denied.add(right);
  cluster.put(stuckPod("stuck"));
  await using reaper = await startReaper(cluster);
  const [event] = await until("the pod has an Event", () => nonEmpty(cluster.events()), LONG_MS);
  expect(event).toMatchObject({ reason: "NotReaped", regarding: { kind: "Pod", name: "stuck" } });
  expect(event?.note).toContain(`nothing was done, because this reaper's account may not ${right} in all namespaces`);
  const lacks = () => nonEmpty(reaper.said("the reaper's account lacks permissions"));
  expect(await until("it is an error", lacks, LONG_MS)).toMatchObject([{ rights: [`${right} in all namespaces`] }]);
  expect(await (await fetch(`${reaper.health}/readyz`)).text()).toContain(right);
  expect(await metric(reaper, "ebb_reaper_missing_rights")).toBe(1);
  expect(cluster.told).toEqual([]);
  cluster.api.denied.delete(right);
  await ended(reaper, 1);
  await until("it is ready", async () => (await fetch(`${reaper.health}/readyz`)).ok || undefined, LONG_MS);
  await until("its end is an Event", () => cluster.events().length >= 3, LONG_MS); // which is written after the metric
  expect(cluster.events().map(({ reason }) => reason)).toEqual(["NotReaped", "SidecarAsked", "SidecarsEnded"]);
});

test("a right that is taken from a running reaper blames no sidecar either", async () => {
  await using cluster = startCluster();
  const right = "patch pods/ephemeralcontainers";
  const message =
    'pods "stuck" is forbidden: User "x" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "shop"';
  const before = cluster.api.answer;
  cluster.api.answer = (request, url) =>
    request.method === "PATCH" && cluster.api.denied.has(right) ? refuse(403, message) : before?.(request, url);
  await using reaper = await startReaper(cluster);
  await until("it is ready", async () => (await fetch(`${reaper.health}/readyz`)).ok || undefined, LONG_MS);
  cluster.api.denied.add(right);
  cluster.put(stuckPod("stuck"));
  const [line] = await until(
    "it says so",
    () => nonEmpty(reaper.said("the reaper's account lacks permissions")),
    LONG_MS,
  );
  expect(line?.rights).toEqual([`${right} in all namespaces`]);
  expect((await fetch(`${reaper.health}/readyz`)).status).toBe(503);
  expect(await metric(reaper, "ebb_reaper_missing_rights")).toBe(1);
  cluster.api.denied.delete(right);
  await ended(reaper, 1);
  expect(cluster.events().map(({ reason }) => reason)).not.toContain("SidecarDidNotExit");
  expect(reaper.said("all permissions are granted: continuing")).toHaveLength(1);
});
