import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../src/cluster/inject/core/inject-pod.ts";
import type { InjectPolicy } from "../../../src/cluster/inject/core/policy.ts";
import { images, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { type Container, exitCodeOf, hasCondition, jobOf, type KubeObject, type PodSpec, podOf } from "../objects.ts";

const policy: InjectPolicy = {
  image: images.ebb,
  all: true,
  volume: "emptyDir",
  options: new Map([["detect-timeout", "2m"]]), // on a busy machine Envoy needs more than 3 s to listen
  entrypoints: new Map(),
};

const restricted = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};
const locked = { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } };
const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };

/** The object with ebb in its pods. */
function changed(object: KubeObject, changes: Partial<InjectPolicy> = {}): KubeObject {
  const injection = injectPod(object.kind === "Job" ? templateOf(object) : object, { ...policy, ...changes });
  if (injection.kind !== "changed") throw new Error(JSON.stringify(injection));
  return object.kind === "Job"
    ? { ...object, spec: { ...(object.spec as object), template: injection.pod } }
    : (injection.pod as unknown as KubeObject);
}

function templateOf({ spec }: KubeObject): unknown {
  return (spec as { template: unknown }).template;
}

describe("a pod that ebb was put into", () => {
  const app = (more: object = {}): Container => ({
    name: "app",
    image: images.app,
    command: ["/child"],
    securityContext,
    ...more,
  });
  const amounts = (cpu: string, memory: string) => ({ cpu, memory });
  const few = amounts("50m", "20Mi");
  const info = {
    name: "info",
    downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] },
  };

  const pods: readonly (readonly [string, PodSpec, Partial<InjectPolicy>])[] = [
    ["of a Job", { containers: [app()], securityContext: locked }, {}],
    [
      "that serves, beside an Envoy",
      { containers: [app(), app({ name: "envoy" })], restartPolicy: "Always", securityContext: locked },
      {},
    ],
    ["of limits alone", { containers: [app({ resources: { limits: few } })], securityContext: locked }, {}],
    [
      "that is Guaranteed",
      { containers: [app({ resources: { limits: few, requests: few } })], securityContext: locked },
      {},
    ],
    [
      "that is Burstable",
      {
        containers: [app({ resources: { requests: amounts("10m", "8Mi"), limits: amounts("2", "16Mi") } })],
        securityContext: locked,
      },
      {},
    ],
    [
      "with resources of its own",
      { containers: [app()], resources: { limits: few, requests: few }, securityContext: locked },
      {},
    ],
    [
      "whose volumes have ebb's names",
      {
        containers: [
          app({
            volumeMounts: [
              { name: "ebb", mountPath: "/a" },
              { name: "info", mountPath: "/etc/podinfo" },
            ],
          }),
        ],
        initContainers: [app({ name: "ebb-install" })],
        volumes: [{ name: "ebb", emptyDir: {} }, info],
        securityContext: locked,
      },
      {},
    ],
    [
      "with the image as a volume",
      { containers: [app()], securityContext: locked },
      { volume: "image", imagePullPolicy: "Never" },
    ],
    [
      "whose native sidecar it names",
      {
        containers: [app()],
        initContainers: [app({ name: "envoy", restartPolicy: "Always" })],
        securityContext: locked,
      },
      {},
    ],
  ];

  test.concurrent.each(pods)(
    "%s is one that the API server and Pod Security take, in the same class of service",
    async (_, spec, changes) => {
      await using here = await namespace(restricted);
      const create = async (object: KubeObject) => {
        const words = ["create", "--dry-run=server", "-o", "json", "-f", "-"];
        const { code, stdout, stderr } = await here.tryKubectl(words, { stdin: JSON.stringify(object) });
        expect([code, stderr]).toEqual([0, ""]);
        return JSON.parse(stdout).status.qosClass as string;
      };
      const before = podOf("app", spec);
      expect(await create(changed(before, changes))).toBe(await create(before));
    },
  );

  test.concurrent.each<[string, PodSpec["securityContext"], object]>([
    ["nobody's in particular, under Pod Security's restricted", locked, restricted],
    ["root's", { runAsUser: 0 }, {}],
  ])("runs, of a user that is %s: a Job beside a real Envoy ends with the app's code", async (_, user, labels) => {
    const { configMap, volume, container } = envoySidecar({ upstreamPort: 8081, more: { securityContext } });
    await using here = await namespace(labels as Record<string, string>);
    const containers = [container, app({ args: ["exit", "3"], resources: { limits: amounts("500m", "64Mi") } })];
    const job = jobOf("work", { containers, volumes: [volume], securityContext: user });
    const { stderr } = await here.tryApply([configMap, changed(job)]);
    expect(stderr).toBe("");
    const { name } = (await here.podOf("work")).metadata;
    await here.until("the Job has failed", async () => hasCondition(await here.job("work"), "Failed"));
    const pod = await here.pod(name);
    expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([3, 0]);
  });

  test.concurrent("whose Envoy is native is told so: it is never quit, and ends after the app", async () => {
    const { configMap, volume, container } = envoySidecar({ upstreamPort: 8081, isNative: true });
    await using here = await namespace();
    const job = jobOf("work", {
      containers: [app({ args: ["exit", "0"] })],
      initContainers: [container],
      volumes: [volume],
    });
    await here.apply([configMap, changed(job)]);
    const { name } = (await here.podOf("work")).metadata;
    const log = await here.until("ebb is done", async () => {
      const text = await here.logs(name, "app");
      return text.includes('"ebb: done"') ? text : undefined;
    });
    await here.until("the Job is complete", async () => hasCondition(await here.job("work"), "Complete"));
    expect(log).toContain('"native":true');
    expect(log).not.toContain('"ebb: asked the sidecar to exit"');
    const [envoy] = (await here.pod(name)).status.initContainerStatuses?.filter((one) => one.name === "envoy") ?? [];
    expect(envoy?.restartCount).toBe(0);
  });
});
