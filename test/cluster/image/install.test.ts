import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { ebbPath } from "../../harness/ebb.ts";
import { images } from "../cluster.ts";
import { exitCodeOf, jobOf, type KubeObject } from "../objects.ts";
import { obstacle, startClusterRegistry } from "./registries.ts";
import { besideEnvoy, runBesideEnvoy, textOf } from "./ways.ts";

// The ways without the webhook, as the manual's page `install` has them; only the images and the app's command are others.

const app = { '"/vendor/migrate", "up"': '"/child", "exit", "0"', "registry.example.com/vendor/migrate": images.app };

test("an init container copies ebb", async () => {
  const manifest = textOf("", { "registry.example.com/ebb:0.1.0": images.ebb, ...app, ...besideEnvoy });
  const pod = await runBesideEnvoy(Bun.YAML.parse(manifest) as KubeObject);
  expect(exitCodeOf(pod, "install-ebb")).toBe(0);
});

describe.skipIf(obstacle !== undefined)("beside a registry", () => {
  test("a Dockerfile copies ebb into the app's image", async () => {
    await using registry = await startClusterRegistry();
    const { host } = registry;
    await registry.build("public/ebb:1", "FROM scratch\nCOPY ebb /ebb\n", dirname(ebbPath));
    await registry.push("public/app:1", { "linux/amd64": 'ENTRYPOINT ["/child"]\nCMD ["exit", "1"]' });
    const dockerfile = textOf("In the app's own image", {
      "registry.example.com/vendor/migrate": `${host}/public/app:1`,
      "registry.example.com/ebb:0.1.0": `${host}/public/ebb:1`,
      "/vendor/migrate": "/child",
      '"up"': '"exit", "0"',
    });
    await registry.build("public/migrate:1", dockerfile);
    await runBesideEnvoy(jobOf("migrate", { containers: [{ name: "migrate", image: `${host}/public/migrate:1` }] }));
  }, 300_000);
});
