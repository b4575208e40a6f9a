import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { images } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import {
  deploymentOf,
  exitCodeOf,
  hasCondition,
  jobOf,
  type KubeObject,
  type Pod,
  podOf,
  statusOf,
} from "../objects.ts";
import { type Installation, inject, startInstallation } from "./installation.ts";

// What `ebb manifests` installs, as its users meet it: nothing in their manifests but an annotation.

let installed: Installation;

beforeAll(async () => {
  installed = await startInstallation();
}, 300_000);

afterAll(async () => {
  await installed?.[Symbol.asyncDispose]();
});

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

/** A container that knows nothing of ebb, and its image does not either. */
function app(...words: readonly string[]) {
  return { name: "app", image: images.app, command: ["/child", ...words] };
}

test.concurrent("both replicas are ready, and were refused nothing that they asked for", async () => {
  const { here } = installed;
  const pods = await here.pods("app.kubernetes.io/component=webhook");
  expect(pods.map((pod) => statusOf(pod, "webhook"))).toMatchObject([
    { ready: true, restartCount: 0 },
    { ready: true, restartCount: 0 },
  ]);
  const logs = await Promise.all(pods.map(({ metadata }) => here.logs(metadata.name, "webhook")));
  for (const log of logs) expect(log).not.toMatch(/"level":"error"|forbidden/);
});

describe("a Job beside a real Envoy, with nothing but an annotation", () => {
  test.concurrent.each([
    ["completes where its app ends with 0", ["exit", "0"], 0, "Complete"],
    ["fails with its app's own code", ["exit", "3"], 3, "Failed"],
    ["fails with 128+n where a signal ends its app", ["die", "15"], 143, "Failed"],
  ] as const)("%s", async (_, words, code, condition) => {
    await using here = await installed.namespace();
    const job = jobOf("work", { containers: [app(...words), envoy], volumes: [volume] });
    await here.apply([configMap, annotated(job)]);
    await here.until(`the Job is ${condition}`, async () => hasCondition(await here.job("work"), condition));
    const pod = await here.podOf("work");
    expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([code, 0]);
    expect(initContainers(pod)).toEqual(["ebb-install"]);
  });

  test.concurrent("completes where two apps end, and a sidecar that nothing ends is made native", async () => {
    await using here = await installed.namespace();
    const containers = [
      app("exit", "0"),
      envoy,
      { ...app("record"), name: "collector" },
      { ...app("exit", "0"), name: "other" },
    ];
    const annotations = { ...inject, "ebb.dev/sidecars": "collector" };
    await here.apply([configMap, annotated(jobOf("work", { containers, volumes: [volume] }), annotations)]);
    await here.until("the Job completes", async () => hasCondition(await here.job("work"), "Complete"));
    const pod = await here.podOf("work");
    expect(["app", "envoy", "other"].map((name) => exitCodeOf(pod, name))).toEqual([0, 0, 0]);
    expect(initContainers(pod)).toEqual(["ebb-install", "collector"]);
  });

  test.concurrent("and without the annotation is what it was", async () => {
    await using here = await installed.namespace();
    const job = jobOf("work", { containers: [app("exit", "0"), envoy], volumes: [volume] });
    await here.apply([configMap, job]);
    const pod = await here.podOf("work");
    expect([initContainers(pod), pod.spec.containers[0]?.command]).toEqual([[], ["/child", "exit", "0"]]);
  });
});

test.concurrent("a Deployment beside a real Envoy becomes available, and its pods can be asked", async () => {
  await using here = await installed.namespace();
  const deployment = deploymentOf("web", { containers: [app("record"), envoy], volumes: [volume] });
  await here.apply([configMap, annotated(deployment)]);
  await here.until("it is available", async () =>
    hasCondition(await here.object<KubeObject & Pod>("deployment/web"), "Available"),
  );
  const { metadata } = await here.podOf("web");
  const { code, stdout } = await here.exec(metadata.name, "app", "/ebb.dev/ebb", "status", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ sidecars: [{ name: "envoy", ready: true }] });
});

describe("kubectl shows", () => {
  test.concurrent("what the webhook warns of", async () => {
    await using here = await installed.namespace();
    const pod = podOf("one", { containers: [app("exit", "0")] }, { annotations: { ...inject, "ebb.dev/drian": "4s" } });
    const { code, stderr } = await here.tryApply([pod]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Warning: .*ebb\.dev\/drian.*drain/) });
  });

  test.concurrent("that a name in ebb.dev/sidecars has a slip in it", async () => {
    await using here = await installed.namespace();
    const containers = [app("exit", "0"), { ...app("exit", "0"), name: "agent" }];
    const annotations = { ...inject, "ebb.dev/sidecars": "agnt" };
    const { code, stderr } = await here.tryApply([podOf("one", { containers }, { annotations })]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Warning: .*no container "agnt".*mean agent\?/),
    });
  });

  test.concurrent("with --dry-run=server what the pod will be", async () => {
    await using here = await installed.namespace();
    const manifest = JSON.stringify(podOf("one", { containers: [app("exit", "0")] }, { annotations: inject }));
    const words = ["create", "--dry-run=server", "-o", "json", "-f", "-"];
    const { stdout } = await here.tryKubectl(words, { stdin: manifest });
    expect(initContainers(JSON.parse(stdout))).toEqual(["ebb-install"]);
    expect(await here.pods()).toEqual([]);
  });

  const wrong = { ...inject, "ebb.dev/drain": "soon" };
  const containers = [app("exit", "0")];

  test.concurrent("why a pod is denied", async () => {
    await using here = await installed.namespace();
    const { code, stderr } = await here.tryApply([podOf("one", { containers }, { annotations: wrong })]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/metadata\.annotations\[ebb\.dev\/drain\]/);
  });

  test.concurrent.each([
    ["job/work", jobOf("work", { containers })],
    ["replicaset", deploymentOf("web", { containers })],
  ] as const)("in `describe %s` why its pods are denied", async (kind, object) => {
    await using here = await installed.namespace();
    await here.apply([annotated(object, wrong)]);
    const text = await here.until("the event is there", async () => {
      const { stdout } = await here.tryKubectl(["describe", kind]);
      return stdout.includes("FailedCreate") && stdout;
    });
    expect(text).toMatch(/denied the request: .*metadata\.annotations\[ebb\.dev\/drain\]/);
  });
});

test.concurrent("a namespace that says no is left alone, whatever its pods say", async () => {
  await using here = await installed.namespace({ "ebb.dev/inject": "false" });
  await here.apply([podOf("one", { containers: [app("exit", "0")] }, { annotations: inject })]);
  expect(initContainers(await here.pod("one"))).toEqual([]);
});

describe("a namespace that says yes", () => {
  const asking = { "ebb.dev/inject": "true" };

  test.concurrent("gets ebb in all of its pods: a Job beside a real Envoy completes without any annotation", async () => {
    await using here = await installed.namespace(asking);
    await here.apply([configMap, jobOf("work", { containers: [app("exit", "0"), envoy], volumes: [volume] })]);
    await here.until("the Job completes", async () => hasCondition(await here.job("work"), "Complete"));
    expect(initContainers(await here.podOf("work"))).toEqual(["ebb-install"]);
  });

  test.concurrent("but in those that say no; one that cannot have it is let in, with a warning", async () => {
    await using here = await installed.namespace(asking);
    const no = { annotations: { "ebb.dev/inject": "false" } };
    await here.apply([podOf("no", { containers: [app("exit", "0")] }, no)]);
    expect(initContainers(await here.pod("no"))).toEqual([]);
    const unknown = { name: "app", image: images.app, args: ["exit", "0"] };
    const { code, stderr } = await here.tryApply([podOf("unknown", { containers: [unknown] })]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Warning: .*command: the pod is left as it is/),
    });
    const { metadata } = await here.pod("unknown");
    expect(metadata.annotations?.["ebb.dev/status"]).toStartWith(
      '{"skipped":"spec.containers[0].command: the command of \\"app\\" is unknown',
    );
  });
});

test.concurrent("an injected template that now says no makes pods without ebb", async () => {
  await using here = await installed.namespace();
  const pod = podOf("one", { containers: [app("exit", "0")] }, { annotations: inject });
  const words = ["create", "--dry-run=server", "-o", "json", "-f", "-"];
  const { stdout } = await here.tryKubectl(words, { stdin: JSON.stringify(pod) });
  const { metadata, spec } = JSON.parse(stdout);
  expect(initContainers({ spec })).toEqual(["ebb-install"]);
  const annotations = { ...metadata.annotations, "ebb.dev/inject": "false" };
  await here.apply([podOf("one", spec, { annotations })]);
  const made = await here.pod("one");
  expect([initContainers(made), made.spec.containers[0]?.command]).toEqual([[], ["/child", "exit", "0"]]);
  expect(Object.keys(made.metadata.annotations ?? {})).not.toContain("ebb.dev/status");
});

/** The object with annotations on its pods, by default the one that asks for ebb. */
function annotated(object: KubeObject, annotations: object = inject): KubeObject {
  const { spec } = object as KubeObject & { spec: { template: { metadata: object } } };
  const metadata = { ...spec.template.metadata, annotations };
  return { ...object, spec: { ...spec, template: { ...spec.template, metadata } } };
}

/** Their names. */
function initContainers({ spec }: Pick<Pod, "spec">): readonly string[] {
  return (spec.initContainers ?? []).map(({ name }) => name);
}
