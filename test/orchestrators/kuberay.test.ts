import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sidecarKind } from "../cluster/istio/istio.ts";
import { hasCondition, type KubeObject, type Pod } from "../cluster/objects.ts";
import { isQuitLine, logOf } from "../harness/ebb.ts";
import { endsOf, images, type Mesh, startMesh } from "./mesh.ts";
import { clusterSpec, endedRayJob, followedRayJob, headService, startKubeRay } from "./ray.ts";

// KubeRay with its own operator and a real Ray, beside a real Istio, in a namespace that has ebb.

let mesh: Mesh;

beforeAll(async () => {
  mesh = await startMesh();
  await startKubeRay(mesh.here);
}, 300_000);

afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
});

const kinds = [
  ["an ordinary sidecar", false],
  ["a native one", true],
] as const;

describe("a RayJob whose submitter is a Job", () => {
  test.each(kinds)("is done by the worker of a RayCluster, and its pods end, beside %s", async (_, isNative) => {
    const { here } = mesh;
    const cluster = isNative ? "native" : "ordinary";
    const aliases = await headService(here, cluster);
    const annotations = sidecarKind(isNative);
    await here.apply([ray("RayCluster", cluster, clusterSpec(annotations, 1, aliases))]);
    const pods = await here.until(
      "head and worker are ready",
      async () => {
        const all = await podsOf(cluster);
        return all.length === 2 && all.every((pod) => hasCondition(pod, "Ready")) && all;
      },
      240_000,
    );
    for (const pod of pods) expectRay(pod);
    const submitter = { name: "submitter", image: images.ray };
    await here.apply([
      ray("RayJob", `${cluster}-job`, {
        clusterSelector: { "ray.io/cluster": cluster },
        entrypoint: `python3.11 -c '${work(`/${cluster}/work`, 0)}'`,
        submitterPodTemplate: {
          metadata: { annotations },
          spec: { ...aliases, restartPolicy: "Never", containers: [submitter] },
        },
      }),
    ]);
    expect((await endedRayJob(here, `${cluster}-job`)).status).toMatchObject({ jobStatus: "SUCCEEDED" });
    const [pod] = (await here.until("the submitter has ended", async () => {
      const all = await here.pods(`job-name=${cluster}-job`);
      return all.length === 1 && all[0]?.status.phase === "Succeeded" && all;
    })) as [Pod];
    expect(endsOf(pod)).toMatchObject({ submitter: 0, "istio-proxy": 0 });
    const quits = logOf(await here.logs(pod.metadata.name, "submitter")).filter(isQuitLine);
    expect(quits).toHaveLength(isNative ? 0 : 1);
    expect(await mesh.requests(`/${cluster}/work`)).toEqual(["PUT mesh"]);
    await here.kubectl("delete", `rayjob/${cluster}-job`, `raycluster/${cluster}`, "--timeout=120s");
    await here.until("no pod of them is left", async () => (await podsOf(cluster)).length === 0);
  });
});

describe("a RayJob whose submitter is in the head", () => {
  test.each([
    ["is complete", 0, "SUCCEEDED", false],
    ["fails", 3, "FAILED", true],
  ] as const)("%s with code %d, and the operator deletes its cluster", async (_, code, jobStatus, isNative) => {
    const { here } = mesh;
    const name = `inside-${code}`;
    await here.apply([
      ray("RayJob", name, {
        submissionMode: "SidecarMode",
        shutdownAfterJobFinishes: true,
        entrypoint: `python3.11 -c '${work(`/${name}/work?held`, code)}'`,
        rayClusterSpec: clusterSpec(sidecarKind(isNative), 0),
      }),
    ]);
    // Once the submitter has ended, its pod is ready no more. If the operator has not seen it ready, it waits for ever.
    await followedRayJob(here, name);
    await here.until("the worker asks", async () => (await mesh.requests(`/${name}/work`)).length > 0, 240_000);
    await mesh.answer(`/${name}/work`);
    const { status } = await endedRayJob(here, name);
    expect(status).toMatchObject({ jobStatus });
    expect(await mesh.requests(`/${name}/work`)).toEqual(["PUT mesh", "POST plain"]);
    await here.until("no pod of it is left", async () => (await podsOf(status?.rayClusterName)).length === 0);
    await here.kubectl("delete", `rayjob/${name}`, "--timeout=120s");
  });
});

/** Returns a program for Ray: its worker PUTs to a path of the server in the mesh. It ends with a code. */
function work(path: string, code: number): string {
  return [
    "import ray, sys, urllib.request as http",
    "ray.init()",
    'put = lambda url: http.urlopen(http.Request(url, data=b"x", method="PUT")).status',
    `print(ray.get(ray.remote(put).remote("${mesh.url}${path}")))`,
    `sys.exit(${code})`,
  ].join("; ");
}

function podsOf(cluster = ""): Promise<readonly Pod[]> {
  return mesh.here.pods(`ray.io/cluster=${cluster}`);
}

function ray(kind: string, name: string, spec: object): KubeObject {
  return { apiVersion: "ray.io/v1", kind, metadata: { name }, spec };
}

/** Expects that ebb starts what the operator has composed, in the first container of a pod of Ray's. */
function expectRay({ spec }: Pod): void {
  const [container] = spec.containers;
  expect(container?.command).toEqual(["/ebb.dev/ebb", "run", "--", "/bin/bash", "-c", "--"]);
  expect(container?.args).toEqual([expect.stringMatching(/^ulimit -n 65536; ray start .*--block/)]);
}
