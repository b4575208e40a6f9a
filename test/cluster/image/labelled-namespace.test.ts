import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ebb } from "../../harness/ebb.ts";
import type { Namespace } from "../cluster.ts";
import { hasCondition, type KubeObject, type Pod, podOf } from "../objects.ts";
import { type Installation, startInstallationWith } from "../webhook/installation.ts";
import { type ClusterRegistry, obstacle, pullSecretOf, startClusterRegistry } from "./registries.ts";

// Five workloads as people write them, none with a command, in a namespace with the label: the registry knows the rest.

const manifest = readFileSync(join(import.meta.dirname, "..", "..", "fixtures", "labelled-namespace.yaml"), "utf8");
const zeros = `sha256:${"0".repeat(64)}`;

/** The ends of the Dockerfiles. `$(PORT)` in the queue's is the shell's, whatever variables the pod has. */
const amd64 = {
  "public/report:1.4": 'ENTRYPOINT ["/child", "arguments"]\nCMD ["--nothing"]',
  "public/cleanup:latest": "ENTRYPOINT echo cleanup of $(echo everything)",
  "team/shop:1": 'ENTRYPOINT ["/bun", "/server.ts"]\nCMD ["0.0.0.0"]',
  "public/queue:3": `ENTRYPOINT ["/bin/sh", "-c", "/child arguments \\"$(PORT)\\" \\"$@\\" \\"$PWD\\"; exec /child record", "queue"]`,
};

let registry: ClusterRegistry;
let installed: Installation;
let here: Namespace;

describe.skipIf(obstacle !== undefined)("in a namespace with the label, with --registries and --pull-secrets,", () => {
  beforeAll(async () => {
    registry = await startClusterRegistry();
    for (const [name, end] of Object.entries(amd64)) await registry.push(name, { "linux/amd64": end });
    await registry.push("public/debug:dev", {
      "linux/amd64": 'ENTRYPOINT ["/child", "exit"]\nCMD ["1"]',
      "linux/arm64": 'ENTRYPOINT ["/child"]\nCMD ["exit", "0"]',
    });
    installed = await startInstallationWith([registry.authority], {
      webhook: { ...registry.webhook, pullSecrets: true },
    });
    here = await installed.namespace({ "ebb.dev/inject": "true" });
    await here.apply([pullSecretOf("team-registry", registry.host)]);
    await here.apply(await manifestHere());
  }, 600_000);

  afterAll(async () => {
    await here?.[Symbol.asyncDispose]();
    await installed?.[Symbol.asyncDispose]();
    await registry?.[Symbol.asyncDispose]();
  });

  test.concurrent("a Job completes, and its args take the place of CMD", async () => {
    await here.until("the Job completes", async () => hasCondition(await here.job("report"), "Complete"));
    const [pod] = await here.pods("job-name=report");
    expect(pod?.spec.containers[0]?.command).toEqual(["/ebb.dev/ebb", "run", "--", "/child", "arguments"]);
    expect(await written(pod)).toEqual(["--month", "10"]);
  });

  test.concurrent("a CronJob's Job completes, whose image has its command in the shell form", async () => {
    await here.kubectl("create", "job", "now", "--from=cronjob/cleanup");
    await here.until("the Job completes", async () => hasCondition(await here.job("now"), "Complete"));
    expect(await written((await here.pods("job-name=now"))[0], 1)).toEqual(["cleanup of everything"]);
  });

  test.concurrent("a Deployment of a private image becomes available under ebb", async () => {
    await here.until("it is available", async () =>
      hasCondition(await here.object<KubeObject & Pod>("deployment/shop"), "Available"),
    );
    for (const { spec } of await here.pods("app=shop"))
      expect(spec.containers[0]?.command).toEqual(["/ebb.dev/ebb", "run", "--", "/bun", "/server.ts", "0.0.0.0"]);
  });

  test.concurrent("a StatefulSet's args are expanded as without ebb, and the image's words are not", async () => {
    const wrapped = await here.until("the queue runs", () => running("queue-0"));
    const [queue = { name: "queue" }] = wrapped.spec.containers;
    expect(queue.command?.slice(0, 3)).toEqual(["/ebb.dev/ebb", "run", "--"]);
    const { command: _, volumeMounts: __, lifecycle: ___, ...own } = queue;
    await here.apply([podOf("bare", { containers: [own] }, { annotations: { "ebb.dev/inject": "false" } })]);
    const bare = await here.until("the bare one runs", () => running("bare"));
    const expected = ["", "serve", "--port=5672", "/data"];
    expect([await written(wrapped, 4), await written(bare, 4)]).toEqual([expected, expected]);
  });

  test.concurrent("a Pod for arm64 gets what its image starts there", async () => {
    const debug = await here.pod("debug"); // which waits for such a node
    expect(debug.spec.containers[0]?.command).toEqual(["/ebb.dev/ebb", "run", "--", "/child", "exit", "0"]);
  });

  test.concurrent("a private image is known to pods whose ServiceAccount names the Secret, and to no others", async () => {
    await using other = await installed.namespace({ "ebb.dev/inject": "true" });
    const pod = podOf("one", { containers: [{ name: "app", image: `${registry.host}/team/shop:1` }] });
    const words = ["create", "--dry-run=server", "-o", "json", "-f", "-"];
    const create = () => other.tryKubectl(words, { stdin: JSON.stringify(pod) });
    const stranger = await create();
    expect(stranger.stderr).toMatch(/^Warning: ebb: .*401/);
    expect(JSON.parse(stranger.stdout).spec.containers[0].command).toBeUndefined();
    await other.apply([pullSecretOf("theirs", registry.host)]);
    await other.kubectl("patch", "serviceaccount", "default", "-p", '{"imagePullSecrets":[{"name":"theirs"}]}');
    const { spec } = JSON.parse((await create()).stdout);
    expect(spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/bun", "/server.ts", "0.0.0.0"]);
  });

  test("ebb doctor finds nothing", async () => {
    const env = { KUBECONFIG: process.env.KUBECONFIG ?? "" };
    const { stdout } = await ebb(["doctor", "--namespace", here.name], { env });
    expect(stdout.split("\n").filter((line) => line.includes(here.name))).toEqual([]);
  });
});

/** Returns the manifest with the names and the digest of the images that the registry has. */
async function manifestHere(): Promise<string> {
  const { host } = registry;
  return manifest
    .replace(zeros, await registry.digestOf("team/shop:1"))
    .replaceAll(/registry\.example\.com\/(team|vendor)\/(?!shop)/g, `${host}/public/`)
    .replaceAll("registry.example.com", host)
    .replaceAll("localhost:5000", `${host}/public`);
}

async function running(name: string): Promise<Pod | undefined> {
  const pod = (await here.pods()).find(({ metadata }) => metadata.name === name);
  return pod?.status.containerStatuses?.every(({ ready }) => ready) ? pod : undefined;
}

/** Returns the first lines that a pod's app has written, without those of ebb and of a shell that finds no `PORT`. */
async function written(pod: Pod | undefined, count = 2): Promise<readonly string[]> {
  if (pod === undefined) return [];
  const [container] = pod.spec.containers;
  return await here.until("it has written enough", async () => {
    const text = await here.logs(pod.metadata.name, container?.name ?? "");
    const lines = text.split("\n").filter((line) => !line.startsWith("{") && !line.includes("not found"));
    return lines.length > count && lines.slice(0, count);
  });
}
