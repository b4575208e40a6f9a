import { afterAll, expect, test } from "bun:test";
import { parse } from "yaml";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { applyInjected } from "../inject/injected.ts";
import { exitCodeOf, hasCondition, type KubeObject, podOf } from "../objects.ts";
import { installPlugin } from "./plugin.ts";

// `kubectl ebb status|drain|quit POD` where the pod has ebb.

const plugin = installPlugin();
afterAll(() => plugin[Symbol.dispose]());
const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const words = ["run", "--quit-on", "never", "--", "/child", "record"];

/** A pod whose app starts by /ebb of its image, by ebb in PATH, and one that is injected. */
const pods: Readonly<Record<string, (here: Namespace) => Promise<unknown>>> = {
  "/ebb": (here) => here.apply([configMap, podOf("pod", podWith({ image: images.appInEbb, args: words }))]),
  "ebb in PATH": (here) => {
    const mounts = [{ name: "tools", mountPath: "/tools" }];
    const install = { name: "install", image: images.ebb, args: ["install", "/tools/ebb"], volumeMounts: mounts };
    const env = [{ name: "PATH", value: "/tools" }];
    const more = { image: images.app, command: ["/tools/ebb", ...words], env, volumeMounts: mounts };
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

test.concurrent.each(Object.entries(pods))("%s is found and called", async (_, create) => {
  await using here = await namespace();
  await create(here);
  await here.until("it is ready", async () => hasCondition(await here.pod("pod"), "Ready"));
  await here.until("the app runs", async () => (await here.logs("pod", "app")).includes("ready\n"));

  const text = await plugin.ebb(here, "status", "pod/pod");
  expect(text).toMatchObject({ code: 0, stderr: "" });
  expect(text.stdout).toContain("envoy: LIVE, ready\n");
  expect(text.stdout).toContain("its command");

  const json = await plugin.ebb(here, "status", "pod", "-o", "json");
  const document = JSON.parse(json.stdout);
  expect(document).toMatchObject({ namespace: here.name, name: "pod", phase: "Running", by: "exec" });
  expect(document.containers).toContainEqual(
    expect.objectContaining({ name: "envoy", role: "sidecar", sidecar: "envoy" }),
  );
  expect(document.status.sidecars).toMatchObject([{ name: "envoy", ready: true, envoy: { state: "LIVE" } }]);
  const yaml = await plugin.ebb(here, "status", "pod", "-oyaml");
  expect(parse(yaml.stdout)).toMatchObject({ by: "exec", status: { version: 1, sidecars: [{ name: "envoy" }] } });

  const flags = await plugin.ebb(here, "status", "pod", "--", "--sidecar", "none", "--json");
  expect(JSON.parse(flags.stdout)).toMatchObject({ sidecars: [] });
  const slip = await plugin.ebb(here, "status", "pod", "--", "--nope");
  expect([slip.code, slip.stderr]).toEqual([64, expect.stringContaining("unknown flag --nope")]);

  const drained = await plugin.ebb(here, "drain", "pod", "--", "--min-drain", "100ms", "--drain", "20s");
  expect([drained.code, drained.stderr]).toEqual([0, expect.stringContaining("drain ended")]);
  expect((await plugin.ebb(here, "status", "pod")).stdout).toContain("DRAINING");

  const quit = await plugin.ebb(here, "quit", "pod");
  expect([quit.code, quit.stderr]).toEqual([0, expect.stringContaining("exited")]);
  await here.until("Envoy has ended", async () => exitCodeOf(await here.pod("pod"), "envoy") === 0);
});

test.concurrent("the exit code is that of the ebb in the pod", async () => {
  await using here = await namespace();
  const app = { name: "app", image: images.appInEbb, args: ["run", "--sidecar", "none", "--", "/child", "record"] };
  await here.apply([podOf("pod", { containers: [app] })]);
  await here.until("the app runs", async () => (await here.logs("pod", "app")).includes("ready\n"));
  const refused = await plugin.ebb(
    here,
    "quit",
    "pod",
    "--",
    "--quit",
    "http://localhost:1/quit",
    "--quit-timeout",
    "1s",
  );
  expect([refused.code, refused.stderr]).toEqual([69, expect.stringContaining("refused")]);
  const none = await plugin.ebb(here, "status", "nope");
  expect([none.code, none.stdout]).toEqual([64, ""]);
  expect(none.stderr).toBe(`ebb: pod nope: not in namespace ${here.name}; kubectl get pods lists them\n`);
  const container = await plugin.ebb(here, "quit", "pod", "-c", "nope");
  expect([container.code, container.stderr]).toEqual([69, expect.stringContaining("nope")]);
});
