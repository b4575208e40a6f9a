import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { images } from "../../cluster/cluster.ts";
import { besideEnvoy, runBesideEnvoy, textOf } from "../../cluster/image/ways.ts";
import { kubectl, runProgram } from "../../cluster/kubectl.ts";
import { jobOf, type KubeObject } from "../../cluster/objects.ts";
import { blockWith, fill } from "../../cluster/readme/blocks.ts";
import { startInstallation } from "../../cluster/webhook/installation.ts";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";

test("the node has a containerd that mounts images", async () => {
  const version = "jsonpath={.items[*].status.nodeInfo.containerRuntimeVersion}";
  expect(await kubectl(["get", "nodes", "-o", version])).toBe("containerd://2.4.2");
});

test("the manual's command that tries a node pool", async () => {
  const { text } = blockWith("kubectl run ebb-try", "src/manual/versions.md");
  const own = { "registry.example.com/ebb:0.1.0": images.ebb, '"LABEL": "VALUE"': '"kubernetes.io/os": "linux"' };
  const { code, stdout, stderr } = await runProgram(["sh", "-c", fill(text, own)], {});
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ebb \d+\.\d+\.\d+/m) });
});

test("the manual's image volume", async () => {
  const manifest = textOf("In an image volume", {
    "registry.example.com/ebb:0.1.0": images.ebb,
    '"/vendor/migrate", "up"': '"/child", "exit", "0"',
    "registry.example.com/vendor/migrate": images.app,
    ...besideEnvoy,
  });
  await runBesideEnvoy(Bun.YAML.parse(manifest) as KubeObject);
});

test("ebb inject --volume image", async () => {
  const app = { name: "migrate", image: images.app, command: ["/child"], args: ["exit", "0"] };
  using folder = temporaryFolder();
  const file = join(folder.path, "job.json");
  writeFileSync(file, JSON.stringify(jobOf("migrate", { containers: [app] })));
  const flags = ["--all", "--volume", "image", "--image", images.ebb];
  const { code, stdout, stderr } = await ebb(["inject", ...flags, "-f", file]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const pod = await runBesideEnvoy(JSON.parse(stdout));
  expect(pod.spec.volumes).toContainEqual({
    name: "ebb",
    image: { reference: images.ebb, pullPolicy: "IfNotPresent" },
  });
});

test("ebb doctor says what that saves, because all nodes here can mount images", async () => {
  await using _ = await startInstallation();
  const { stdout } = await ebb(["doctor", "--json"], { env: { KUBECONFIG: process.env.KUBECONFIG ?? "" } });
  expect(JSON.parse(stdout).notes).toEqual([
    expect.stringContaining("all nodes can mount ebb's image: with --volume image"),
  ]);
});
