import { afterAll, expect, test } from "bun:test";
import { images, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, podOf, statusOf } from "../objects.ts";
import { quits, standInPod, standIns } from "../reaper/reapers.ts";
import { installPlugin } from "./plugin.ts";

// The same where the pod has no ebb: through a port-forward, or by an ephemeral container.

const plugin = installPlugin();
afterAll(() => plugin[Symbol.dispose]());
const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const app = { name: "app", image: images.app, args: ["record"] };

test.concurrent("status and drain ask a real Envoy through a port-forward; quit takes the reaper's methods", async () => {
  await using here = await namespace();
  await here.apply([configMap, podOf("pod", { containers: [app, envoy], volumes: [volume] })]);
  await here.until("it is ready", async () => hasCondition(await here.pod("pod"), "Ready"));

  const text = await plugin.ebb(here, "status", "pod");
  expect(text.code).toBe(0);
  expect(text.stderr).toContain("no ebb in the pod: using a port-forward");
  expect(text.stdout).toMatch(/^pod \S+\/pod: Running\n/);
  expect(text.stdout).toMatch(/\napp +app +- +running\n/);
  expect(text.stdout).toContain("envoy: LIVE, ready\n");
  expect(text.stdout).toMatch(/admin +http:\/\/localhost:9901\n/);
  const json = JSON.parse((await plugin.ebb(here, "status", "pod", "-o", "json")).stdout);
  expect(json).toMatchObject({
    by: "port-forward",
    status: { sockets: null, sidecars: [{ envoy: { state: "LIVE" } }] },
  });

  const flags = await plugin.ebb(here, "status", "pod", "--", "--watch");
  expect([flags.code, flags.stderr]).toEqual([64, expect.stringContaining("expected no flags for a pod without ebb")]);
  const slip = await plugin.ebb(here, "drain", "pod", "--", "--quit");
  expect([slip.code, slip.stderr]).toEqual([64, expect.stringContaining("unknown flag --quit")]);

  const drained = await plugin.ebb(here, "drain", "pod", "--", "--min-drain", "100ms", "--drain", "20s");
  expect([drained.code, drained.stderr]).toEqual([0, expect.stringContaining("drain ended")]);
  expect((await plugin.ebb(here, "status", "pod")).stdout).toContain("envoy: DRAINING");

  const quit = await plugin.ebb(here, "quit", "pod");
  expect([quit.code, quit.stderr]).toEqual([0, expect.stringContaining("through a port-forward")]);
  await here.until("Envoy has ended", async () => exitCodeOf(await here.pod("pod"), "envoy") === 0);
  expect(statusOf(await here.pod("pod"), "app")?.state.running).toBeDefined();
  expect((await plugin.ebb(here, "quit", "pod")).code).toBe(0); // they have ended already
});

test.concurrent("an ephemeral container does it where a port-forward does not reach the admin interface", async () => {
  await using here = await namespace();
  // an Envoy at a port that ebb finds from inside the pod alone
  const { configMap, volume, container } = envoySidecar({ upstreamPort: 8081, adminPort: 8001 });
  await here.apply([configMap, podOf("pod", { containers: [app, container], volumes: [volume] })]);
  await here.until("it is ready", async () => hasCondition(await here.pod("pod"), "Ready"));

  const api = await plugin.ebb(here, "status", "pod");
  expect([api.code, api.stderr]).toEqual([0, expect.stringContaining("--image allows an ephemeral container")]);
  expect(api.stdout).toMatch(/\nenvoy +sidecar +envoy +running\n/);
  const left = await plugin.ebb(here, "drain", "pod");
  expect([left.code, left.stderr]).toEqual([
    69,
    expect.stringContaining("--image IMAGE allows an ephemeral container"),
  ]);

  const image = ["--image", images.ebb];
  const text = await plugin.ebb(here, "status", "pod", ...image);
  expect([text.code, text.stderr]).toEqual([0, expect.stringContaining("using an ephemeral container")]);
  expect(text.stdout).toContain("envoy: LIVE, ready\n");
  const json = JSON.parse((await plugin.ebb(here, "status", "pod", "-o", "json", ...image)).stdout);
  expect(json).toMatchObject({ by: "ephemeral", status: { sidecars: [{ name: "envoy", ready: true }] } });
  const drained = await plugin.ebb(here, "drain", "pod", ...image, "--", "--min-drain", "100ms", "--drain", "20s");
  expect([drained.code, drained.stdout]).toEqual([0, expect.stringContaining("drain ended")]);
  const quit = await plugin.ebb(here, "quit", "pod", ...image);
  expect([quit.code, quit.stderr]).toEqual([0, expect.stringContaining("ephemeral container: ebb quit")]);
  await here.until("Envoy has ended", async () => exitCodeOf(await here.pod("pod"), "envoy") === 0);
  const names = ((await here.pod("pod")).spec.ephemeralContainers as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(["ebb-kubectl-1", "ebb-kubectl-2", "ebb-kubectl-3", "ebb-reaper-1"]);

  const wrong = await plugin.ebb(here, "status", "pod", "--image", "localhost/nope:1", "--image-pull-policy", "Never");
  expect([wrong.code, wrong.stderr]).toEqual([69, expect.stringContaining("does not start: ErrImageNeverPull")]);
});

test.concurrent("quit leaves a sidecar that comes back, or does not go, with 69", async () => {
  await using here = await namespace();
  const annotations = { "ebb.dev/reap-patience.envoy": "1s" };
  await here.apply([
    standIns,
    standInPod("stays", { sidecar: "stays", annotations, code: undefined }),
    standInPod("back", { code: undefined, more: { restartPolicy: "Always" } }),
  ]);
  for (const name of ["stays", "back"])
    await here.until(`${name} runs`, async () => statusOf(await here.pod(name), "envoy")?.state.running);
  await here.until("it listens", async () =>
    (await plugin.ebb(here, "status", "stays")).stderr.includes("port-forward"),
  );
  const stays = await plugin.ebb(here, "quit", "stays", "--methods", "port-forward");
  expect([stays.code, stays.stderr]).toEqual([69, expect.stringContaining("still runs after all methods")]);
  const back = await plugin.ebb(here, "quit", "back");
  expect([back.code, back.stderr]).toEqual([69, expect.stringContaining("restartPolicy Always")]);
  expect([await quits(here, "back"), (await quits(here, "stays")) > 0]).toEqual([0, true]);
});
