import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, jobOf, type KubeObject } from "../objects.ts";
import { inject } from "../webhook/installation.ts";

// The programs that render manifests, as README.md puts `ebb inject` into them.

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

function job(name: string, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const app = { name: "app", image: images.app, command: ["/child", "exit", "3"] };
  const { spec, metadata, ...rest } = jobOf(name, { containers: [app, envoy], volumes: [volume] });
  const { template, ...more } = spec as { template: { metadata: object } };
  const asking = { ...template, metadata: { ...template.metadata, annotations: inject } };
  return { ...rest, metadata: { ...metadata, annotations }, spec: { ...more, template: asking } };
}

test.concurrent("kustomize: a script with `ebb inject` is a function", async () => {
  await using here = await namespace();
  using folder = files({
    "kustomization.yaml": stringify({ resources: ["work.yaml", "envoy.yaml"], transformers: ["ebb.yaml"] }),
    "work.yaml": stringify(job("work")),
    "envoy.yaml": stringify(configMap),
    "ebb.yaml": stringify({
      apiVersion: "ebb.dev/v1",
      kind: "Inject",
      metadata: { name: "ebb", annotations: { "config.kubernetes.io/function": "exec: {path: ./inject}\n" } },
    }),
    inject: `#!/bin/sh\nexec ${ebbPath} inject --quiet --image ${images.ebb}\n`,
  });
  chmodSync(join(folder.path, "inject"), 0o755);
  const manifest = await run(
    compiledProgram("kustomize").path,
    "build",
    "--enable-alpha-plugins",
    "--enable-exec",
    folder.path,
  );
  await here.apply(manifest);
  await failed(here);
});

test.concurrent("Helm 3: `ebb inject` is a post-renderer, but Helm gives hooks to none", async () => {
  await using here = await namespace();
  using folder = files({
    "Chart.yaml": stringify({ apiVersion: "v2", name: "shop", version: "1.0.0" }),
    "templates/work.yaml": stringify(job("work")),
    "templates/envoy.yaml": stringify(configMap),
    "templates/hook.yaml": stringify(job("hook", { "helm.sh/hook": "test" })),
  });
  const words = ["upgrade", "--install", "shop", folder.path, "--namespace", here.name];
  const renderer = ["--post-renderer", ebbPath, "--post-renderer-args", "inject"];
  const helm = compiledProgram("helm").path;
  await run(helm, ...words, ...renderer);
  await failed(here);
  expect(await run(helm, "get", "hooks", "shop", "--namespace", here.name)).not.toContain("/ebb.dev/ebb");
});

/** A folder of these files, by their paths in it. */
function files(texts: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return folder;
}

/** What it writes to stdout. */
async function run(...command: readonly string[]): Promise<string> {
  const env = { ...process.env, EBB_IMAGE: images.ebb };
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect([await child.exited, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
}

/** The Job `work` has its app's code, and its Envoy was quit. */
async function failed(here: Namespace): Promise<void> {
  await here.until("the Job has failed", async () => hasCondition(await here.job("work"), "Failed"));
  const pod = await here.podOf("work");
  expect({ app: exitCodeOf(pod, "app"), envoy: exitCodeOf(pod, "envoy") }).toEqual({ app: 3, envoy: 0 });
}
