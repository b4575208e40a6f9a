import { expect, test } from "bun:test";
import { type Ended, ebb, startEbb, temporaryFolder } from "../../harness/ebb.ts";
import { type Namespace, namespace } from "../cluster.ts";
import { exitCodeOf, type Pod, statusOf } from "../objects.ts";
import { quits, reaped, reaperArguments, reaperEnvironment, reaperEvents, standInPod, standIns } from "./reapers.ts";

// `ebb reaper --once`, as a person at a terminal or a CronJob runs it.

function once(here: Namespace, ...flags: readonly string[]): Promise<Ended> {
  return ebb(reaperArguments(here, ["--once", ...flags]), { env: reaperEnvironment });
}

function appEnded(here: Namespace, name: string): Promise<Pod> {
  return here.until(`the app of ${name} has ended`, async () => {
    const pod = await here.pod(name);
    return exitCodeOf(pod, "app") !== undefined && pod;
  });
}

test.concurrent("--once ends what is stuck, says what became of each pod, and does so once", async () => {
  await using here = await namespace();
  expect(await once(here)).toMatchObject({ code: 0, stdout: "no pods\n" });
  const slip = await once({ ...here, name: `${here.name}-nope` });
  expect(slip).toMatchObject({ code: 64, stdout: "" });
  expect(slip.stderr).toContain(`there is no namespace "${here.name}-nope"`);
  await here.apply([
    standIns,
    standInPod("stuck"),
    standInPod("slow", { sidecar: "stays", code: undefined }),
    standInPod("says-no", { labels: reaped, annotations: { "ebb.dev/reap": "false" } }),
  ]);
  await Promise.all(["stuck", "says-no"].map((name) => appEnded(here, name)));
  await here.until("the other runs", async () => statusOf(await here.pod("slow"), "app")?.state.running);

  const dry = await once(here, "--dry-run", "--after", "0s");
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stdout).toMatch(/^NAMESPACE +POD +RESULT +WHY\n/);
  expect(dry.stdout).toMatch(/stuck +would end +.*POST localhost:9901\/quitquitquit through a port-forward\n/);
  expect([await quits(here, "stuck"), await reaperEvents(here)]).toEqual([0, []]);

  const real = await once(here);
  expect(real).toMatchObject({ code: 0 });
  const [, first, second, rest] = real.stdout.split("\n");
  expect(first).toMatch(
    new RegExp(`^${here.name} +stuck +ended +envoy, by POST localhost:9901/quitquitquit through a port-forward$`),
  );
  expect(second).toMatch(new RegExp(`^${here.name} +says-no +left alone +its annotation says ebb.dev/reap: "false"$`));
  expect(rest).toBe("1 pod not stuck: 1 app-running");
  await here.until("the pod is over", async () => (await here.pod("stuck")).status.phase === "Succeeded");
  expect([await quits(here, "stuck"), await quits(here, "slow"), await quits(here, "says-no")]).toEqual([1, 0, 0]);

  const again = await once(here, "--json", "--log-level", "debug");
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toContainEqual(
    expect.objectContaining({ pod: "says-no", result: "left alone", reason: "opted-out" }),
  );
  expect(await quits(here, "stuck")).toBe(1);
});

test.concurrent("--once exits with 69 where a sidecar comes back, or nobody answers", async () => {
  await using here = await namespace();
  const more = { restartPolicy: "OnFailure" } as const;
  const annotations = { "ebb.dev/reap-patience.envoy": "1s" };
  await here.apply([standIns, standInPod("work", { sidecar: "fails", more, annotations })]);
  await appEnded(here, "work");
  const ended = await once(here, "--methods", "port-forward");
  expect(ended.code).toBe(69);
  expect(ended.stdout).toMatch(/work +gave up +/);
  const reports = (await reaperEvents(here, "work")).filter(({ reason }) => reason === "SidecarDidNotExit");
  expect(reports).toMatchObject([{ type: "Warning" }]);

  const config = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"));
  config.clusters[0].cluster.server = "https://127.0.0.1:1";
  using folder = temporaryFolder();
  await Bun.write(`${folder.path}/kubeconfig`, JSON.stringify(config));
  const nobody = await ebb(reaperArguments(here, ["--once", "--kubeconfig", `${folder.path}/kubeconfig`]));
  expect(nobody).toMatchObject({ code: 69, stdout: "" });
  expect(nobody.stderr).toContain("https://127.0.0.1:1");
});

test.concurrent("--once that is stopped while a sidecar has its time to exit says so", async () => {
  await using here = await namespace();
  const annotations = { "ebb.dev/reap-patience.envoy": "10m" };
  await here.apply([standIns, standInPod("work", { sidecar: "stays", annotations })]);
  await appEnded(here, "work");
  await using run = startEbb(reaperArguments(here, ["--once"]), { env: reaperEnvironment });
  await here.until("it is told", async () => (await quits(here, "work")) === 1);
  run.kill("SIGTERM");
  const stopped = await run.ended;
  expect(stopped.code).toBe(69);
  expect(stopped.stdout).toMatch(/work +stopped +/);
});
