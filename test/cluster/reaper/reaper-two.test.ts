import { expect, test } from "bun:test";
import { join } from "node:path";
import { limitedTo } from "../../binary/cluster/limited.ts";
import { logOf, temporaryFolder } from "../../harness/ebb.ts";
import { type Namespace, namespace } from "../cluster.ts";
import { cuttable, type Line } from "../line.ts";
import { exitCodeOf, hasCondition, jobOf, type KubeObject, type Pod, type PodSpec } from "../objects.ts";
import {
  quits,
  type Reaper,
  reaperEnvironment,
  reaperEvents,
  reasons,
  standInPod,
  standIns,
  startReaper,
} from "./reapers.ts";

// Two reapers at once, one after the other, and an API server that goes away.

const failed = 'ebb_reaper_watch_restarts_total{reason="failed"}';
const names = ["a", "b", "c", "d"] as const;
const annotations = { "ebb.dev/reap-patience.envoy": "45s" };

function allOver(here: Namespace): Promise<readonly Pod[]> {
  return here.until("all pods are over", async () => {
    const pods = await here.pods();
    return pods.every(({ status }) => status.phase === "Succeeded") && pods;
  });
}

/** Returns a Job with a pod of `standInPod`. */
function standInJob(name: string): KubeObject {
  const { spec, metadata } = standInPod(name, { annotations });
  const job = jobOf(name, spec as PodSpec);
  Object.assign((job.spec as { template: { metadata: object } }).template.metadata, {
    annotations: metadata.annotations,
  });
  return job;
}

test.concurrent.each(["port-forward", "ephemeral"])(
  "two at once, by %s, do no harm: the Jobs complete, nothing else ends, and nobody complains",
  async (method) => {
    await using here = await namespace();
    const flags = ["--methods", method];
    await using first = await startReaper(here, flags);
    await using second = await startReaper(here, flags);
    await here.apply([standIns, standInPod("runs", { code: undefined }), ...names.map(standInJob)]);
    await here.until("all Jobs are complete", async () => {
      const jobs = await Promise.all(names.map((name) => here.job(name)));
      return jobs.every((job) => hasCondition(job, "Complete"));
    });
    for (const name of names) {
      const pod = await here.podOf(name);
      expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([0, 0]);
      expect([1, 2]).toContain(await quits(here, pod.metadata.name));
    }
    const other = await here.pod("runs");
    expect(other.status.containerStatuses).toMatchObject(
      ["app", "envoy"].map(() => ({ restartCount: 0, state: { running: {} } })),
    );
    expect(await quits(here, "runs")).toBe(0);
    const isDone = async (reaper: Reaper) => (await reaper.metric("ebb_reaper_attempts_in_progress")) === 0;
    await here.until("both are done", async () => (await isDone(first)) && (await isDone(second)));
    for (const { stderr } of [first, second])
      expect(logOf(stderr()).filter(({ level }) => level === "error")).toEqual([]);
  },
);

test.concurrent.each(["port-forward", "ephemeral"])(
  "one that is killed between one pod and the next, by %s, and started again: nothing is forgotten",
  async (method) => {
    await using here = await namespace();
    const flags = ["--methods", method];
    const oneByOne = limitedTo({ concurrency: 1 });
    await using first = await startReaper(here, flags, oneByOne);
    await here.apply([standIns, ...names.map((name) => standInPod(name, { annotations }))]);
    await here.until("the first sidecar is told", async () => (await reaperEvents(here)).length > 0);
    first.kill("SIGKILL");
    expect((await first.ended).code).toBe(137);
    await using _second = await startReaper(here, flags, oneByOne);
    for (const { metadata } of await allOver(here)) expect([1, 2]).toContain(await quits(here, metadata.name));
  },
);

/** A kubeconfig by which the API server is reached over this line. */
async function overLine({ port }: Line, folder: string, here: Namespace): Promise<string> {
  const config = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"));
  const [{ name, cluster }] = config.clusters;
  const { hostname } = new URL(cluster.server);
  const over = { ...cluster, server: `https://127.0.0.1:${port}`, "tls-server-name": hostname };
  const path = join(folder, "kubeconfig");
  await Bun.write(path, JSON.stringify({ ...config, clusters: [{ name, cluster: over }] }));
  return path;
}

test.concurrent("an API server that is away for a while is found again, and what was told is not told twice", async () => {
  await using here = await namespace();
  using folder = temporaryFolder();
  const { server } = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "-o", "json")).clusters[0]
    .cluster;
  using line = await cuttable(new URL(server));
  const env = { ...reaperEnvironment, KUBECONFIG: await overLine(line, folder.path, here) };
  await using reaper = await startReaper(here, [], { env });
  await here.apply([
    standIns,
    standInPod("before", { annotations }),
    standInPod("told", { sidecar: "stays", annotations: { "ebb.dev/reap-patience.envoy": "10m" } }),
  ]);
  await here.until("the first is over", async () => (await here.pod("before")).status.phase === "Succeeded");
  await here.until("the second is told", async () => (await quits(here, "told")) === 1);
  line.cut();
  await here.apply([standInPod("meanwhile", { annotations })]);
  await here.until("it is missed", async () => (await reaper.metric(failed)) > 0);
  line.mend();
  await here.until(
    "what was stuck meanwhile is over",
    async () => (await here.pod("meanwhile")).status.phase === "Succeeded",
  );
  expect(await Promise.all(["before", "told", "meanwhile"].map((name) => quits(here, name)))).toEqual([1, 1, 1]);
  expect((await reasons(here, "told")).filter((reason) => reason === "SidecarAsked")).toHaveLength(1);
});
