import { describe, expect, test } from "bun:test";
import { type MethodKind, methodKinds } from "../../../src/cluster/reaper/core/methods.ts";
import { logOf } from "../../harness/ebb.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, type Job, jobOf, type Pod, statusOf } from "../objects.ts";
import { programs } from "../programs.ts";
import {
  quits,
  type Reaper,
  reaped,
  reaperEvents,
  reasons,
  resyncing,
  standInPod,
  standIns,
  startReaper,
} from "./reapers.ts";

// `ebb reaper` as a process, which has the cluster to itself but for one namespace's end.

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

/** A Job whose app ends with this code once Envoy, in which ebb is installed, listens. */
function stuckJob(name: string, code: number) {
  const ebbFolder = { name: "ebb", mountPath: "/ebb.dev" };
  const install = { name: "install", image: images.ebb, args: ["install", "/ebb.dev/ebb"], volumeMounts: [ebbFolder] };
  const spec = {
    initContainers: [install],
    containers: [
      { ...envoy, volumeMounts: [...(envoy.volumeMounts as object[]), ebbFolder] },
      programs.container("app", "app.ts", String(code)),
    ],
    volumes: [volume, programs.volume, { name: "ebb", emptyDir: {} }],
  };
  const job = jobOf(name, spec);
  Object.assign((job.spec as { template: { metadata: object } }).template.metadata, { annotations: reaped });
  return job;
}

function over(here: Namespace, job: string): Promise<Job> {
  return here.until(`the Job ${job} is over`, async () => {
    const now = await here.job(job);
    return (hasCondition(now, "Complete") || hasCondition(now, "Failed")) && now;
  });
}

/** But for acts that a busy API server had no time for. */
function said(reaper: Reaper, msg: string) {
  return logOf(reaper.stderr()).filter((line) => line.msg === `ebb: ${msg}` && line.result !== "unavailable");
}

/** How many pods it has judged by this rule, now. */
function judged(reaper: Reaper, rule: string): Promise<number> {
  return reaper.metric(`ebb_reaper_pods{reason="${rule}"}`);
}

describe("Jobs that a real Envoy keeps from their end", () => {
  test.concurrent.each<MethodKind>([...methodKinds])(
    "are over by %s: complete, or failed where the app has failed",
    async (method) => {
      await using here = await namespace();
      await here.apply([configMap, standIns, stuckJob("good", 0), stuckJob("bad", 3)]);
      await using reaper = await startReaper(here, ["--methods", method]);
      const [good, bad] = await Promise.all([over(here, "good"), over(here, "bad")]);
      expect(good.status.conditions).toContainEqual(expect.objectContaining({ type: "Complete", status: "True" }));
      expect(bad.status.conditions).toContainEqual(expect.objectContaining({ type: "Failed", status: "True" }));
      for (const [job, code] of [
        ["good", 0],
        ["bad", 3],
      ] as const) {
        const pod = await here.podOf(job);
        expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([code, 0]);
        await here.until("its end is told", async () =>
          (await reasons(here, pod.metadata.name)).includes("SidecarsEnded"),
        );
        expect(new Set(await reasons(here, pod.metadata.name))).toEqual(new Set(["SidecarAsked", "SidecarsEnded"]));
        const audit = said(reaper, "asked a sidecar to exit").filter((line) => line.pod === pod.metadata.name);
        expect(audit).toMatchObject([
          { namespace: here.name, uid: pod.metadata.uid, job, container: "envoy", reason: "stuck", result: "taken" },
        ]);
      }
      expect(await reaper.metric(`ebb_reaper_acts_total{method="${method}",result="taken"}`)).toBe(2);
      expect(await reaper.metric('ebb_reaper_attempts_total{outcome="ended"}')).toBe(2);
      expect(await reaper.metric("ebb_reaper_end_to_ended_seconds_count")).toBe(2);
    },
  );
});

describe("left alone, while the pod beside them is ended, are", () => {
  test.concurrent("retries, servers, native sidecars, who runs, who has said no, and who has said nothing", async () => {
    await using here = await namespace();
    const native = { ...programs.container("envoy", "sidecar.ts", "stays"), restartPolicy: "Always" };
    const done = programs.container("app", "app.ts", "0");
    await here.apply([
      standIns,
      standInPod("stuck"),
      standInPod("fails-again", { code: 1, more: { restartPolicy: "OnFailure" } }),
      standInPod("server", { more: { restartPolicy: "Always" } }),
      standInPod("runs", { code: undefined }),
      standInPod("says-no", { annotations: { "ebb.dev/reap": "false" }, labels: reaped }),
      standInPod("says-nothing", { annotations: { "ebb.dev/reap": undefined } }),
      standInPod("native", { more: { initContainers: [native], containers: [done] } }),
      standInPod("native-and-runs", {
        code: undefined,
        more: {
          initContainers: [native],
          containers: [{ name: "app", image: images.bun, command: ["/bun", "-e", "setInterval(() => 0, 1e6)"] }],
        },
      }),
    ]);
    await using reaper = await startReaper(here);
    await here.until("the stuck pod is over", async () => (await here.pod("stuck")).status.phase === "Succeeded");
    await here.until(
      "the native sidecar is over, by the kubelet",
      async () => (await here.pod("native")).status.phase === "Succeeded",
    );
    const rules = { "opted-out": 1, "not-selected": 1, "app-waiting": 1, "app-running": 1, "no-sidecar": 1 };
    for (const [rule, count] of Object.entries(rules)) {
      await here.until(`${count} is left by ${rule}`, async () => (await judged(reaper, rule)) >= count);
    }
    const retried = await here.until("the app was started again, twice", async () => {
      const pod = await here.pod("fails-again");
      return (statusOf(pod, "app")?.restartCount ?? 0) >= 2 && pod;
    });
    expect(statusOf(retried, "envoy")).toMatchObject({ restartCount: 0, state: { running: {} } });
    await here.until("the reaping is told", async () => (await reasons(here, "stuck")).includes("SidecarsEnded"));
    expect(new Set((await reaperEvents(here)).map(({ regarding }) => regarding.name))).toEqual(new Set(["stuck"]));
    for (const pod of ["fails-again", "server", "runs", "says-no", "says-nothing"])
      expect(await quits(here, pod)).toBe(0);
    expect(said(reaper, "asked a sidecar to exit").map(({ pod }) => pod)).toEqual(["stuck"]);
  });
});

test.concurrent("a word that cannot be read is an Event on what has it: a pod, or its namespace", async () => {
  await using here = await namespace({ "ebb.dev/reap": "on" });
  const labels = { "ebb.dev/reap": "yes" };
  await here.apply([
    standIns,
    standInPod("odd-word", { code: undefined, labels }),
    standInPod("mute", { code: undefined }),
  ]);
  await using _ = await startReaper(here);
  await here.until("both are told", async () => {
    const events = (await reaperEvents(here)).filter(({ reason }) => reason === "NotReaped");
    const about = events.map(({ regarding: { kind, name } }) => `${kind} ${name}`);
    return about.includes("Pod odd-word") && about.includes(`Namespace ${here.name}`);
  });
});

test.concurrent("an image that is not there is put into a pod once, and the kubelet's reason is told", async () => {
  await using here = await namespace();
  await here.apply([standIns, standInPod("work")]);
  const flags = ["--methods", "ephemeral", "--image", "registry.example/none:1", "--image-pull-policy", "Never"];
  await using _ = await startReaper(here, flags);
  const given = await here.until("it is given up, as an Event", async () =>
    (await reaperEvents(here, "work")).find(({ reason }) => reason === "SidecarDidNotExit"),
  );
  expect(given.note).toContain("ebb-reaper-1 does not start: ErrImageNeverPull");
  await using next = await startReaper(here, flags);
  await here.until(
    "the next one leaves it",
    () => said(next, "cannot reap: the pod or namespace needs a change").length === 1,
  );
  expect((await here.pod("work")).spec.ephemeralContainers).toHaveLength(1);
  await using mended = await startReaper(here, ["--methods", "ephemeral"]);
  await here.until("another image ends it", async () => (await here.pod("work")).status.phase === "Succeeded");
  expect(said(mended, "asked a sidecar to exit")).toHaveLength(1);
});

test.concurrent("another pod that takes the name while its reaping is under way is not touched", async () => {
  await using here = await namespace();
  const patience = { "ebb.dev/reap-patience.envoy": "5m" };
  await here.apply([standIns, standInPod("work", { sidecar: "stays", annotations: patience })]);
  await using reaper = await startReaper(here);
  await here.until("its sidecar was told", async () => (await quits(here, "work")) === 1);
  const { uid } = (await here.pod("work")).metadata;
  await here.kubectl("delete", "pod", "work", "--force", "--grace-period=0");
  await here.apply([standInPod("work", { code: undefined })]);
  await here.until("its reaping is over", async () => {
    const outcomes = ["gone", "left"].map((outcome) =>
      reaper.metric(`ebb_reaper_attempts_total{outcome="${outcome}"}`),
    );
    return (await Promise.all(outcomes)).includes(1);
  });
  await here.until("the new pod is seen", async () => (await judged(reaper, "app-running")) === 1);
  const other = await here.pod("work");
  expect(other.metadata.uid).not.toBe(uid);
  expect(await quits(here, "work")).toBe(0);
  expect(statusOf(other, "envoy")?.state.running).toBeDefined();
  expect(new Set((await reaperEvents(here)).map(({ regarding }) => regarding.uid))).toEqual(new Set([uid as string]));
});

test.concurrent("a sidecar that does not end, whatever it is told, is reported once: Event, metric and log", async () => {
  await using here = await namespace();
  const annotations = { "ebb.dev/reap-patience.envoy": "1s" };
  await here.apply([standIns, standInPod("work", { sidecar: "stays", annotations })]);
  await using reaper = await startReaper(here, ["--methods", "port-forward"], resyncing);
  const gaveUp = 'ebb_reaper_attempts_total{outcome="gave-up"}';
  await here.until("it gives up", async () => (await reaper.metric(gaveUp)) === 1, 200_000);
  const times = await quits(here, "work");
  expect([1, 2, 3]).toContain(times); // once a round, where the kubelet was there
  const synced = () => reaper.metric("ebb_reaper_last_sync_timestamp_seconds");
  for (const _ of ["a list that was under way", "another"]) {
    const before = await synced();
    await here.until("all pods are read again", async () => (await synced()) > before);
  }
  expect(await judged(reaper, "handled")).toBe(1);
  const reports = (await reaperEvents(here, "work")).filter(({ reason }) => reason === "SidecarDidNotExit");
  expect(reports).toMatchObject([
    { type: "Warning", note: expect.stringContaining("envoy still runs after all methods") },
  ]);
  expect(said(reaper, "gave up: a sidecar still runs after all methods")).toMatchObject([
    { level: "error", pod: "work" },
  ]);
  expect(await reaper.metric(gaveUp)).toBe(1);
  expect(await quits(here, "work")).toBe(times);
  const pod: Pod = await here.pod("work");
  expect(statusOf(pod, "envoy")).toMatchObject({ restartCount: 0, state: { running: {} } });
});

test.concurrent("with --dry-run nothing is touched, and what would be done is said once", async () => {
  await using here = await namespace();
  await here.apply([standIns, standInPod("work")]);
  await using reaper = await startReaper(here, ["--dry-run"], resyncing);
  await here.until("it is stuck", () => said(reaper, "pod is stuck").length > 0);
  const before = await reaper.metric("ebb_reaper_last_sync_timestamp_seconds");
  const synced = () => reaper.metric("ebb_reaper_last_sync_timestamp_seconds");
  await here.until("all pods are read again", async () => (await synced()) > before);
  expect(said(reaper, "pod is stuck")).toMatchObject([
    {
      pod: "work",
      dryRun: true,
      why: expect.stringContaining("POST localhost:9901/quitquitquit through a port-forward"),
    },
  ]);
  expect(await reaperEvents(here)).toEqual([]);
  expect(await quits(here, "work")).toBe(0);
  expect(await reaper.page("/metrics")).not.toMatch(/^ebb_reaper_acts_total\{/m);
  expect(statusOf(await here.pod("work"), "envoy")?.state.running).toBeDefined();
});
