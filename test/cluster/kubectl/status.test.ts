import { afterAll, expect, test } from "bun:test";
import { parse } from "yaml";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { applyInjected } from "../inject/injected.ts";
import { exitCodeOf, hasCondition, type KubeObject, podOf, statusOf } from "../objects.ts";
import { installPlugin } from "./plugin.ts";

// `kubectl ebb status POD`, and what the manual's page says to do with kubectl itself.

const plugin = installPlugin();
afterAll(() => plugin[Symbol.dispose]());
const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const words = ["run", "--quit-on", "never", "--", "/child", "record"];

/** A pod whose app starts with an ebb in a volume, and one that is injected. */
const pods: Readonly<Record<string, (here: Namespace) => Promise<unknown>>> = {
  "/tools/ebb": (here) => {
    const mounts = [{ name: "tools", mountPath: "/tools" }];
    const install = { name: "install", image: images.ebb, args: ["install", "/tools/ebb"], volumeMounts: mounts };
    const more = { image: images.app, command: ["/tools/ebb", ...words], volumeMounts: mounts };
    const spec = podWith(more, [{ name: "tools", emptyDir: {} }]);
    return here.apply([configMap, podOf("pod", { ...spec, initContainers: [install] })]);
  },
  "/ebb.dev/ebb": (here) =>
    applyInjected(here, [
      configMap,
      podOf("pod", podWith({ image: images.app, command: ["/child", "record"] }), {
        annotations: { "ebb.dev/quit-on": "never" },
      }),
    ] as readonly KubeObject[]),
};

function podWith(app: object, volumes: readonly object[] = []) {
  return { containers: [{ name: "app", ...app }, envoy], volumes: [volume, ...volumes] };
}

test.concurrent.each(Object.entries(pods))("%s is found and called", async (path, create) => {
  await using here = await namespace();
  await create(here);
  await here.until("it is ready", async () => hasCondition(await here.pod("pod"), "Ready"));
  await here.until("the app runs", async () => (await here.logs("pod", "app")).includes("ready\n"));

  const text = await plugin.ebb(here, "status", "pod/pod");
  expect(text).toMatchObject({ code: 0, stderr: "" });
  expect(text.stdout).toMatch(/^pod \S+\/pod: Running\n/);
  expect(text.stdout).toMatch(/^envoy +sidecar +envoy +running$/m);
  expect(text.stdout).toContain("\nenvoy: LIVE, ready\n");
  expect(text.stdout).toContain("its command");

  const json = JSON.parse((await plugin.ebb(here, "status", "pod", "-o", "json")).stdout);
  expect(json).toMatchObject({ namespace: here.name, name: "pod", phase: "Running", ebb: "yes" });
  expect(json.status.sidecars).toMatchObject([{ name: "envoy", ready: true, envoy: { state: "LIVE" } }]);
  const yaml = await plugin.ebb(here, "status", "pod", "-oyaml");
  expect(parse(yaml.stdout)).toMatchObject({ status: { version: 1, sidecars: [{ name: "envoy" }] } });

  // the manual's page
  await here.kubectl("exec", "pod", "-c", "app", "--", path, "drain", "--min-drain", "100ms", "--drain", "20s");
  expect((await plugin.ebb(here, "status", "pod")).stdout).toContain("DRAINING");
  await here.kubectl("exec", "pod", "-c", "app", "--", path, "quit");
  await here.until("Envoy has ended", async () => exitCodeOf(await here.pod("pod"), "envoy") === 0);
  const none = await plugin.ebb(here, "status", "nope");
  expect([none.code, none.stdout]).toEqual([64, ""]);
  expect(none.stderr).toBe(`ebb: pod nope: not in namespace ${here.name}; kubectl get pods lists them\n`);
});

test.concurrent("where the spec shows no ebb, kubectl asks it, as the last line says", async () => {
  await using here = await namespace();
  await here.apply([
    configMap,
    podOf("image", podWith({ image: images.appInEbb, args: words })),
    podOf("none", podWith({ image: images.app, args: ["record"] })),
  ]);
  for (const name of ["image", "none"])
    await here.until(`${name} is ready`, async () => hasCondition(await here.pod(name), "Ready"));
  const hint = async (name: string) => {
    const { code, stdout, stderr } = await plugin.ebb(here, "status", name);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^app +app +- +running\nenvoy +sidecar +envoy +running$/m);
    const line = stdout.trimEnd().split("\n").at(-1) ?? "";
    const [, exec = "", debug = ""] = /: kubectl (.*) if its image .* kubectl (.*), with ebb's image$/.exec(line) ?? [];
    return { exec: exec.split(" "), debug: debug.replace("=IMAGE", `=${images.ebb}`).split(" ") };
  };
  const { exec } = await hint("image");
  expect((await plugin.kubectl(exec)).stdout).toContain("envoy: LIVE, ready\n");

  // without a terminal, -it attaches to nothing that stays
  const { debug } = await hint("none");
  const run = async (container: string, profile: string, ...command: readonly string[]) => {
    const more = ["--container", container, "--profile", profile, "--attach=false", "--image-pull-policy=IfNotPresent"];
    const own = debug.slice(0, debug.indexOf("--")).filter((word) => word !== "-it");
    await plugin.kubectl([...own, ...more, "--", ...command]);
    const state = async () => {
      const { ephemeralContainerStatuses = [] } = (await here.pod("none")).status as never as Record<string, never[]>;
      return (ephemeralContainerStatuses as { name: string; state: { terminated?: { exitCode: number } } }[]).find(
        ({ name }) => name === container,
      )?.state.terminated;
    };
    const ended = await here.until(`${container} has ended`, state);
    return { code: ended.exitCode, log: await here.logs("none", container) };
  };
  const status = await run("look", "general", "/ebb", "status");
  expect(status).toMatchObject({ code: 0, log: expect.stringContaining("envoy: LIVE, ready\n") });
  const drained = await run("drains", "restricted", "/ebb", "drain", "--min-drain", "100ms", "--drain", "20s");
  expect(drained).toMatchObject({ code: 0, log: expect.stringContaining("drain ended") });
  const quit = await run("quits", "restricted", "/ebb", "quit");
  expect(quit).toMatchObject({ code: 0, log: expect.stringContaining("exited") });
  await here.until("Envoy has ended", async () => exitCodeOf(await here.pod("none"), "envoy") === 0);
  expect(statusOf(await here.pod("none"), "app")?.state.running).toBeDefined();
});
