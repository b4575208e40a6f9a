import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../harness.ts";
import { type Namespace, namespace } from "../cluster.ts";
import { cuttable, type Line } from "../line.ts";
import type { Pod } from "../objects.ts";
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

// Two replicas of `ebb reaper`, and an API server that goes away.

const names = ["a", "b", "c", "d"] as const;
/** How long another waits that finds a sidecar told. */
const annotations = { "ebb.dev/reap-patience.envoy": "45s" };

interface Replicas extends AsyncDisposable {
  readonly leader: Reaper;
  readonly follower: Reaper;
}

async function startReplicas(here: Namespace, flags: readonly string[] = []): Promise<Replicas> {
  const first = await startReaper(here, flags);
  await here.until("the first leads", first.leads);
  const second = await startReaper(here, flags);
  await here.until("the second has seen all pods", async () => (await second.page("/readyz")) === "ok\n");
  return {
    leader: first,
    follower: second,
    async [Symbol.asyncDispose]() {
      await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
    },
  };
}

async function leaseOf(here: Namespace): Promise<string | undefined> {
  const { spec } = await here.object<{ spec: { holderIdentity?: string } }>("lease/ebb-reaper");
  return spec.holderIdentity;
}

function allOver(here: Namespace): Promise<readonly Pod[]> {
  return here.until("all pods are over", async () => {
    const pods = await here.pods();
    return pods.every(({ status }) => status.phase === "Succeeded") && pods;
  });
}

describe("of two replicas", () => {
  test.concurrent.each(["port-forward", "ephemeral"])(
    "the leader is killed between one pod and the next, by %s: nothing is done twice, nothing forgotten",
    async (method) => {
      await using here = await namespace();
      await using replicas = await startReplicas(here, ["--methods", method, "--concurrency", "1"]);
      const { leader } = replicas;
      await here.apply([standIns, ...names.map((name) => standInPod(name, { annotations }))]);
      await here.until("the first sidecar is told", async () => (await reaperEvents(here)).length > 0);
      leader.kill("SIGKILL");
      expect((await leader.ended).code).toBe(137);
      await here.apply([standInPod("after", { annotations })]); // the leader may have told all the others by now
      const pods = await allOver(here);
      expect(pods).toHaveLength(names.length + 1);
      for (const { metadata, spec } of pods) {
        expect(await quits(here, metadata.name)).toBe(1);
        if (method === "ephemeral") expect(spec.ephemeralContainers).toHaveLength(1);
      }
    },
  );

  test.concurrent("the leader that is asked to stop gives the Lease back, and the other goes on", async () => {
    await using here = await namespace();
    await using replicas = await startReplicas(here);
    const { leader, follower } = replicas;
    const before = await leaseOf(here);
    expect(before).toBeTruthy();
    leader.kill("SIGTERM");
    expect((await leader.ended).code).toBe(0);
    expect(await leaseOf(here)).not.toBe(before); // it was given back, or taken by the other already
    await here.until("the other leads", follower.leads);
    await here.apply([standIns, ...names.map((name) => standInPod(name, { annotations }))]);
    await allOver(here);
    for (const name of names) expect(await quits(here, name)).toBe(1);
  });
});

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

test.concurrent("an API server that is away for longer than a Lease lasts is found again, and what was told is not told twice", async () => {
  await using here = await namespace();
  using folder = temporaryFolder();
  const { server } = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "-o", "json")).clusters[0]
    .cluster;
  using line = await cuttable(new URL(server));
  const env = { ...reaperEnvironment, KUBECONFIG: await overLine(line, folder.path, here) };
  await using reaper = await startReaper(here, [], env);
  await here.apply([
    standIns,
    standInPod("before", { annotations }),
    standInPod("told", { sidecar: "stays", annotations: { "ebb.dev/reap-patience.envoy": "10m" } }),
  ]);
  await here.until("the first is over", async () => (await here.pod("before")).status.phase === "Succeeded");
  await here.until("the second is told", async () => (await quits(here, "told")) === 1);
  line.cut();
  await here.apply([standInPod("meanwhile", { annotations })]);
  await here.until("it leads no more", async () => !(await reaper.leads()));
  line.mend();
  await here.until(
    "what was stuck meanwhile is over",
    async () => (await here.pod("meanwhile")).status.phase === "Succeeded",
  );
  expect(await Promise.all(["before", "told", "meanwhile"].map((name) => quits(here, name)))).toEqual([1, 1, 1]);
  expect((await reasons(here, "told")).filter((reason) => reason === "SidecarAsked")).toHaveLength(1);
});
