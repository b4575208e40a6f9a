import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { temporaryFolder } from "../../harness/ebb.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { exitCodeOf, podOf } from "../objects.ts";
import { quits, standInPod, standIns } from "../reaper/reapers.ts";
import { installPlugin } from "./plugin.ts";

// `kubectl ebb` for many pods, for a caller without rights, and the completion that the real kubectl asks for.

const plugin = installPlugin();
afterAll(() => plugin[Symbol.dispose]());

const lasts = { name: "app", image: images.appInEbb, args: ["run", "--sidecar", "none", "--", "/child", "record"] };

/** A pod that is stuck, one that is not, one with ebb. */
async function arrange(here: Namespace): Promise<void> {
  await here.apply([
    standIns,
    standInPod("stuck", { labels: { app: "a" } }),
    standInPod("busy", { labels: { app: "b" }, code: undefined }),
    podOf("with-ebb", { containers: [lasts] }, { labels: { app: "b" } }),
  ]);
  await here.until("the app has ended", async () => exitCodeOf(await here.pod("stuck"), "app") === 0);
  for (const name of ["busy", "with-ebb"])
    await here.until(`${name} runs`, async () => (await here.pod(name)).status.phase === "Running");
}

test.concurrent("status without POD is a table: of a namespace, by labels, of all; reap ends what is stuck in it", async () => {
  await using empty = await namespace();
  await using here = await namespace();
  expect(await plugin.ebb(empty, "status")).toEqual({
    code: 0,
    stdout: `no pods in namespace ${empty.name}\n`,
    stderr: "",
  });
  await arrange(here);
  const table = await plugin.ebb(here, "status");
  expect([table.code, table.stderr]).toEqual([0, ""]);
  const lines = table.stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
  expect(lines).toEqual([
    ["NAME", "APP", "SIDECAR", "EBB", "STATE"],
    ["busy", "running", "envoy", "no", "app-running"],
    ["stuck", "exit 0", "envoy", "no", "stuck"],
    ["with-ebb", "running", "-", "no", "no-sidecar"],
  ]);
  const chosen = await plugin.ebb(here, "status", "-l", "app=b");
  expect(chosen.stdout).not.toContain("stuck");
  expect(chosen.stdout.trimEnd().split("\n")).toHaveLength(3);
  const wide = await plugin.ebb(here, "status", "-o", "wide", "-l", "app=a");
  expect(wide.stdout).toMatch(/^NAME +APP +SIDECAR +EBB +STATE +IMAGE +WHY\nstuck .* stuck +- +the app has ended/);
  const all = await plugin.kubectl(["ebb", "status", "-A"]);
  expect(all.stdout).toMatch(/^NAMESPACE +NAME +APP +SIDECAR +EBB +STATE\n/);
  expect(all.stdout).toMatch(new RegExp(`^${here.name} +stuck +exit 0 +envoy +no +stuck$`, "m"));
  const json = JSON.parse((await plugin.ebb(here, "status", "-o", "json")).stdout);
  expect(json).toHaveLength(3);
  expect(json).toContainEqual(expect.objectContaining({ name: "stuck", state: "stuck", ebb: "no", image: null }));
  expect(parse((await plugin.ebb(here, "status", "-o", "yaml")).stdout)).toEqual(json);
  const both = await plugin.ebb(here, "status", "stuck", "-l", "app=b");
  expect([both.code, both.stderr]).toEqual([64, expect.stringContaining("POD: expected none with")]);

  const dry = await plugin.ebb(here, "reap", "--all-jobs", "--dry-run", "--after", "0s", "-o", "json");
  expect(JSON.parse(dry.stdout)).toContainEqual(expect.objectContaining({ pod: "stuck", result: "would end" }));
  const reaped = await plugin.ebb(here, "reap", "-l", "app=a", "--after", "0s");
  expect([reaped.code, reaped.stdout]).toEqual([0, expect.stringMatching(/stuck +ended +envoy, by POST/)]);
  expect(await quits(here, "stuck")).toBe(1);
});

test.concurrent("without -n it is the namespace of the context; doctor, inject and slips", async () => {
  await using here = await namespace();
  await arrange(here);
  using folder = temporaryFolder();
  const KUBECONFIG = join(folder.path, "config");
  const config = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"));
  config.contexts[0].context.namespace = here.name;
  config.contexts.push({ name: "elsewhere", context: { ...config.contexts[0].context, namespace: "kube-system" } });
  await Bun.write(KUBECONFIG, JSON.stringify(config));
  const run = (...words: string[]) => plugin.kubectl(["ebb", ...words], { KUBECONFIG });
  expect((await run("status")).stdout).toContain("with-ebb");
  expect((await run("status", "--context", "elsewhere")).stdout).not.toContain("with-ebb");
  const reap = JSON.parse((await run("reap", "--dry-run", "-o", "json")).stdout);
  expect(new Set(reap.map(({ namespace }: { namespace: string }) => namespace))).toEqual(new Set([here.name]));
  expect((await run("reap", "--dry-run", "--context", "elsewhere")).stdout).not.toContain("stuck");
  const doctor = await run("doctor", "-o", "json");
  expect(JSON.parse(doctor.stdout)).toMatchObject({ pods: 3 });
  expect(JSON.parse((await run("doctor", "-A", "-o", "json")).stdout).pods).toBeGreaterThanOrEqual(3);
  const manifest = join(folder.path, "pod.json");
  await Bun.write(
    manifest,
    JSON.stringify(podOf("p", { containers: [{ name: "app", image: "app:1", command: ["/app"] }] })),
  );
  const injected = await run("inject", "--image", "ebb:1", "--all", "-f", manifest);
  expect([injected.code, injected.stdout]).toEqual([0, expect.stringContaining("/ebb.dev/ebb")]);
  const slip = await run("stauts");
  expect([slip.code, slip.stderr]).toEqual([64, expect.stringContaining("did you mean kubectl ebb status?")]);
  const format = await run("doctor", "-o", "wide");
  expect([format.code, format.stderr]).toEqual([64, expect.stringContaining("--output: expected json")]);
});

test.concurrent("a caller without rights is told which is missing", async () => {
  await using here = await namespace();
  await arrange(here);
  await here.kubectl("create", "serviceaccount", "reader");
  await here.kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods");
  await here.kubectl("create", "rolebinding", "reader", "--role=reader", `--serviceaccount=${here.name}:reader`);
  const token = (await here.kubectl("create", "token", "reader")).trim();
  using folder = temporaryFolder();
  const KUBECONFIG = join(folder.path, "config");
  const config = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"));
  config.users[0].user = { token };
  await Bun.write(KUBECONFIG, JSON.stringify(config));
  const run = (name: string, ...words: string[]) =>
    plugin.kubectl(["ebb", name, "-n", here.name, ...words], { KUBECONFIG });

  const status = await run("status", "busy");
  expect([status.code, status.stdout]).toEqual([0, expect.stringMatching(/^envoy +sidecar +envoy +running$/m)]);
  const why = await run("why", "stuck");
  expect([why.code, why.stdout]).toEqual([
    1,
    expect.stringContaining(`you may not get pods/portforward in namespace ${here.name}`),
  ]);
  const end = await run("why", "stuck", "--end", "--after", "0s");
  expect([end.code, end.stdout]).toEqual([
    69,
    expect.stringMatching(/^no permission: .*because you may not .*; ask an administrator to allow it$/m),
  ]);
  const all = await plugin.kubectl(["ebb", "status", "-A"], { KUBECONFIG });
  expect([all.code, all.stderr]).toEqual([69, expect.stringContaining('cannot list resource "pods"')]);
});

test.concurrent("the real kubectl completes commands, flags, and names from the cluster", async () => {
  await using here = await namespace();
  await arrange(here);
  const complete = async (...words: readonly string[]) => {
    const { stdout } = await plugin.kubectl(["__complete", "ebb", ...words]);
    const lines = stdout.trimEnd().split("\n");
    return { names: lines.slice(0, -1).map((line) => line.split("\t")[0]), directive: lines.at(-1) };
  };
  const commands = ["status", "why", "reap", "inject", "doctor", "timeline", "help"];
  expect(await complete("")).toEqual({ names: commands, directive: ":4" });
  expect((await complete("w")).names).toEqual(["why"]);
  expect((await complete("nope", "")).names).toEqual([]);
  expect((await complete("why", "--en")).names).toEqual(["--end"]);
  expect((await complete("status", "-o", "")).names).toEqual(["json", "yaml", "wide"]);
  expect((await complete("why", "--image-pull-policy=If")).names).toEqual(["--image-pull-policy=IfNotPresent"]);
  expect(await complete("why", "-n", here.name, "")).toEqual({ names: ["busy", "stuck", "with-ebb"], directive: ":4" });
  expect((await complete("why", `-n${here.name}`, "pod/st")).names).toEqual(["pod/stuck"]);
  expect((await complete("why", "-n", here.name, "stuck", "")).names).toEqual([]);
  expect((await complete("why", "-n", here.name.slice(0, -1))).names).toContain(here.name);
  expect((await complete("reap", `--namespace=kube-sys`)).names).toEqual(["--namespace=kube-system"]);
  const contexts = (await here.kubectl("config", "get-contexts", "-o", "name")).trimEnd().split("\n");
  expect((await complete("doctor", "--context", "")).names).toEqual(contexts);
  expect((await complete("inject", "-f", "")).directive).toBe(":0");
  expect((await complete("why", "--kubeconfig", "/nope", "")).names).toEqual([]);
});
