import { expect } from "bun:test";
import { symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import packageJson from "../../../package.json";
import { ebbPath } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { imageValues, nameService } from "../chart/release.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { kubectl } from "../kubectl.ts";
import { deploymentOf, hasCondition, jobOf, withPod } from "../objects.ts";
import { runTool } from "../rig/daemon.ts";
import { blocksIn } from "./blocks.ts";
import { startShell } from "./shell.ts";

// Each command of the manual's page `roll-out`, as it stands there and in its order: only ebb's image, and the names of the
// namespaces, are others.

const blocks = blocksIn("src/manual/roll-out.md").map(({ text }) => text.replaceAll("0.1.0", packageJson.version));
const rest = blocks.map((text) => text.trimEnd().split(/(?<!\\)\n/));

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const beside = (...command: readonly string[]) => ({
  containers: [{ name: "app", image: images.app, command }, envoy],
  volumes: [volume],
});

/** From looking to waves, and back. */
export async function rollOut(): Promise<void> {
  await using shop = await namespace();
  await using bank = await namespace();
  await using crm = await namespace();
  for (const each of [shop, bank])
    await each.apply([configMap, deploymentOf("web", beside("/child", "record"), { replicas: 1 })]);
  const stuck = withPod(jobOf("stuck", beside("/child", "exit", "0")), (spec) => spec, { "ebb.dev/inject": "false" });
  await shop.apply([stuck]);
  await using shell = await startShell(shop.name);
  await symlink(compiledProgram("helm").path, join(shell.folder, "helm"));
  await symlink(ebbPath, join(shell.folder, "kubectl-ebb"));
  await runTool(
    process.execPath,
    resolve(import.meta.dirname, "../../../build/release/chart.ts"),
    "--out",
    shell.folder,
  );
  const { repository, tag } = imageValues(images.ebb);
  const words: Readonly<Record<string, string>> = {
    [`registry.example.com/ebb:${packageJson.version}`]: images.ebb,
    "image.repository=registry.example.com/ebb": `image.repository=${repository},image.tag=${tag}`,
    shop: shop.name,
    bank: bank.name,
    crm: crm.name,
  };
  const asRunHere = (line: string) =>
    Object.entries(words).reduce((text, [page, mine]) => text.replace(new RegExp(`\\b${page}\\b`, "g"), mine), line);
  const lineOf = (line: string) => `export HOME="$PWD"\n${asRunHere(line)}`;
  const run = (line: string) => shell.run(lineOf(line));
  /** Returns the page's next block, of this many commands. */
  const next = (count: number): readonly string[] => {
    const block = rest.shift() ?? [];
    expect(block).toHaveLength(count);
    return block;
  };
  const isRolledOut = (here: Namespace) => here.kubectl("rollout", "status", "deployment/web", "--timeout=4m");
  const hasEbb = async (here: Namespace) => {
    await isRolledOut(here);
    await here.until("only the new pod is left", async () => (await here.pods("app=web")).length === 1);
    const [pod] = await here.pods("app=web");
    return pod?.spec.initContainers?.some(({ name }) => name === "ebb-install") === true;
  };
  await Promise.all([shop, bank].map(isRolledOut));
  await shop.until("the app of the Job has ended", async () => {
    const [pod] = await shop.pods("app=stuck");
    return pod?.status.containerStatuses?.some(({ name, state }) => name === "app" && state.terminated !== undefined);
  });

  const [hangs = ""] = next(1);
  await shop.until("the Job would be ended", async () => /stuck-\S+ +would end/.test((await run(hangs)).stdout));
  const [preview = ""] = next(1);
  const { stdout, stderr } = await run(preview);
  expect(stdout).toBe("");
  expect(stderr).toContain(`Deployment ${shop.name}/web: put ebb into app`);

  await using _ = {
    async [Symbol.asyncDispose]() {
      await shell.tryRun(`export HOME="$PWD"\nhelm uninstall ebb --namespace ebb --ignore-not-found`);
      await kubectl(["delete", "namespace", "ebb", "--ignore-not-found"]);
    },
  };
  const [install = "", check = "", doctor = ""] = next(3);
  await run(install);
  await nameService(join(shell.folder, "chart/ebb"), "ebb", "ebb"); // there is no DNS here
  await run("helm upgrade ebb ./chart/ebb --namespace ebb --reset-then-reuse-values --wait");
  await run(check);
  const { stdout: found } = await shell.tryRun(lineOf(doctor));
  expect(found).toContain("webhook ebb/ebb-webhook: 2 of 2 replicas ready");
  expect(found).toContain("reaper ebb/ebb-reaper: 1 of 1 replicas ready");

  const [one = "", rollout = "", status = ""] = next(3);
  await run(one);
  await run(rollout);
  expect(await hasEbb(shop)).toBe(true);
  expect((await run(status)).stdout).toMatch(/^web-\S+ .* yes /m);
  const [again = ""] = next(1);
  await run(again);
  expect(await hasEbb(shop)).toBe(true);

  const [label = "", own = "", look = "", restart = "", ask = ""] = next(5);
  await run(label);
  await run(own);
  await shop.until("a pod gets ebb", async () => (await run(look)).stdout.includes("ebb-install"));
  await run(restart);
  expect(await hasEbb(shop)).toBe(true);
  expect(await shell.tryRun(lineOf(ask))).toMatchObject({ code: 0, stderr: "" });

  const [askAgain = "", warnings = "", logs = ""] = next(3);
  expect(await shell.tryRun(lineOf(askAgain))).toMatchObject({ code: 0, stderr: "" });
  await run(warnings);
  await shop.until("the reaper says what it would end", async () =>
    (await run(logs)).stdout
      .split("\n")
      .some((line) => line.includes('"ebb: pod is stuck"') && line.includes(shop.name)),
  );
  expect(hasCondition(await shop.job("stuck"), "Complete")).toBe(false);
  const [act = ""] = next(1);
  await run(act);
  await shop.until("the Job is complete", async () => hasCondition(await shop.job("stuck"), "Complete"));

  const [wave = "", restartWave = "", askAll = ""] = next(3);
  await run(wave);
  await bank.until("a pod gets ebb", async () =>
    (await run(look.replace("-n shop", "-n bank"))).stdout.includes("ebb-install"),
  );
  await run(restartWave);
  expect(await hasEbb(bank)).toBe(true);
  const { stdout: findings } = await shell.tryRun(lineOf(askAll));
  expect(findings.split("\n").filter((line) => [shop, bank, crm].some(({ name }) => line.includes(name)))).toEqual([]);

  const [unlabel = "", withoutEbb = ""] = next(2);
  await run(unlabel);
  await shop.until("a pod gets no ebb", async () => !(await run(look)).stdout.includes("ebb-install"));
  await run(withoutEbb);
  expect(await hasEbb(shop)).toBe(false);
  const [unregister = ""] = next(1);
  await run(unregister);
  await run(restartWave);
  expect(await hasEbb(bank)).toBe(false);
  await run(act);
  expect(await kubectl(["get", "mutatingwebhookconfiguration", "-o", "name"])).toContain("/ebb-webhook\n");
  expect(rest).toEqual([]);
}
