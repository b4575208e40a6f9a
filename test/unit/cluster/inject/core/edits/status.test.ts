import { describe, expect, test } from "bun:test";
import { LOCAL_VOLUMES } from "../../../../../../src/cluster/inject/core/annotation-names.ts";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import type { InjectPolicy } from "../../../../../../src/cluster/inject/core/policy.ts";
import { again } from "../injected-pods.ts";
import { app, changed, type Loose, podIn, podOf, policy, refusal } from "../injection.ts";

const job = { spec: { restartPolicy: "Never" } };

test("a container that is no app any more is what it was", () => {
  const containers = [app({ name: "a", command: ["/bin/scuttle", "--", "/a"] }), app({ name: "b" })];
  const { spec } = again({ ...job, containers }, (pod) => {
    Object.assign(pod.metadata.annotations, { "ebb.dev/sidecars": "a", "ebb.dev/native": "false" });
  });
  expect(spec.containers[0]).toEqual(containers[0]);
  expect(spec.containers[1].command[0]).toBe("/ebb.dev/ebb");
});

test("an option that the annotations no longer say is gone, and one that they now say otherwise is changed", () => {
  const annotations = { "ebb.dev/grace": "1s", "ebb.dev/quit-timeout": "2s" };
  const { spec } = again({ annotations }, (pod) => {
    delete pod.metadata.annotations["ebb.dev/grace"];
    pod.metadata.annotations["ebb.dev/quit-timeout"] = "3s";
  });
  const env = Object.fromEntries(spec.containers[0].env.map(({ name, value }: Loose) => [name, value]));
  expect(env).toEqual({ EBB_RESTART_POLICY: "Always", EBB_POD_GRACE: "30s", EBB_QUIT_TIMEOUT: "3s", EBB_DRAIN: "24s" });
});

test("what an earlier policy said is kept by one that says nothing of it: options, and what images start", () => {
  const pod = changed(
    { containers: [{ name: "app" }] },
    {
      options: new Map([["grace", "9s"]]),
      entrypoints: new Map([["app", ["/from-inject"]]]),
    },
  );
  const later = podIn(injectPod(pod, { ...policy, image: "ebb:2" }));
  expect(later.spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/from-inject"]);
  expect(later.spec.containers[0].env).toContainEqual({ name: "EBB_GRACE", value: "9s" });
  expect(later.spec.initContainers[0].image).toBe("ebb:2");
  const other = podIn(injectPod(later, { ...policy, options: new Map([["grace", "4s"]]) }));
  expect(other.spec.containers[0].env).toContainEqual({ name: "EBB_GRACE", value: "4s" });
});

test("a proxy's hook keeps what an earlier policy said, too", () => {
  const containers = [app(), { name: "envoy" }];
  const pod = changed({ containers }, { options: new Map([["log-format", "text"]]) });
  const later = podIn(injectPod(pod, { ...policy, image: "ebb:2" }));
  expect(later.spec.containers[1].lifecycle.preStop.exec.command).toContain("--log-format=text");
});

test("the status names what was changed in each container, those that ebb starts before the proxies", () => {
  const preStop = { sleep: { seconds: 5 } };
  const envoys = [{ name: "ENVOY_ADMIN_API", value: "http://localhost:15000" }];
  const tool = app({ command: ["/bin/scuttle", "--", "/app"], env: envoys, lifecycle: { preStop } });
  const containers = [{ name: "envoy" }, tool, app({ name: "own", command: ["/ebb", "run", "--", "x"] })];
  const pod = changed({ containers }, { options: new Map([["grace", "9s"]]) });
  const env = (sidecars: string) => ["EBB_RESTART_POLICY", "EBB_POD_GRACE", sidecars, "EBB_GRACE"];
  const ofApp = [...env("EBB_DETECT_TIMEOUT"), "EBB_DRAIN", "EBB_MIN_DRAIN"];
  expect(pod.metadata.annotations["ebb.dev/status"]).toBe(
    JSON.stringify({
      containers: {
        app: { command: "tool", tool: "/bin/scuttle", env: ofApp, preStop },
        own: { env: env("EBB_SIDECAR") },
        envoy: { hook: true },
      },
      volumes: ["ebb", "ebb-annotations"],
      ebb: policy.image,
      localVolumes: ["ebb"],
      options: { grace: "9s" },
    }),
  );
});

describe("what others made of ebb's own container and volumes since", () => {
  const changes = { image: "mirror.example.com/ebb:1", securityContext: { runAsUser: 7 } };
  const change = ({ spec }: Loose) => {
    Object.assign(spec.initContainers[0], changes);
    spec.initContainers.unshift({ name: "first" });
    spec.volumes[0].emptyDir.medium = "Memory";
    spec.volumes[1].downwardAPI.defaultMode = 420;
    spec.containers.push({ name: "envoy" });
  };
  const kept = (image: string, more: Partial<InjectPolicy>) => {
    const { spec } = again({}, change, { image, ...more });
    const own = spec.initContainers.find(({ name }: Loose) => name === "ebb-install");
    const { ebb, "ebb-annotations": told } = Object.fromEntries(spec.volumes.map((one: Loose) => [one.name, one]));
    const { medium } = ebb.emptyDir ?? {};
    return [own?.image, own?.securityContext.runAsUser, medium, told.downwardAPI.defaultMode];
  };

  test("stays in the same admission", () => {
    expect(kept(policy.image, { isAdmission: true })).toEqual([changes.image, 7, "Memory", 420]);
  });

  test.each<[string, string, Partial<InjectPolicy>, string | undefined]>([
    ["at a desk", policy.image, {}, policy.image],
    ["by a webhook with another ebb", "ebb:2", { isAdmission: true }, "ebb:2"],
  ])("is brought up to date %s", (_, image, more, installed) => {
    expect(kept(image, more)).toEqual([installed, undefined, undefined, undefined]);
  });

  test("gives way to a webhook that mounts the image", () => {
    const [install, , medium] = kept(policy.image, { isAdmission: true, volume: "image" });
    expect([install, medium]).toEqual([undefined, undefined]);
  });

  test("gives way if ebb's volume has another name by now", () => {
    const pod = changed({ spec: { volumes: [{ name: "ebb", emptyDir: {} }] } });
    pod.spec.volumes.shift();
    const { spec } = podIn(injectPod(pod, { ...policy, isAdmission: true }));
    expect(spec.initContainers.map(({ volumeMounts }: Loose) => volumeMounts[0].name)).toEqual(["ebb"]);
  });
});

test("a mount of ebb's volume that somebody else made stays", () => {
  const tools = { name: "ebb", mountPath: "/tools" };
  const { spec } = again({}, (pod) => pod.spec.containers[0].volumeMounts.push(tools), { image: "ebb:2" });
  expect(spec.containers[0].volumeMounts).toContainEqual(tools);
  expect(spec.containers[0].volumeMounts).toHaveLength(3);
});

test("from a copy to the mounted image: no init container is left", () => {
  const { spec } = again({}, () => undefined, { volume: "image" });
  expect(spec.initContainers).toBeUndefined();
  expect(spec.volumes[0]).toHaveProperty("image");
});

test("what others have added meanwhile stays, and a proxy that came gets its hook", () => {
  const proxy = { name: "istio-proxy", image: "istio/proxyv2:1" };
  const { spec } = again({}, (pod) => {
    pod.spec.containers.push(proxy);
    pod.spec.initContainers.unshift({ name: "istio-init" });
    pod.spec.volumes.push({ name: "istio-envoy", emptyDir: {} });
    pod.spec.containers[0].env.push({ name: "DAPR_HTTP_PORT", value: "3500" });
  });
  expect(spec.containers[1].lifecycle.preStop.exec.command).toContain("--sidecar=istio");
  expect(spec.initContainers.map(({ name }: Loose) => name)).toEqual(["ebb-install", "istio-init"]);
  expect(spec.volumes.map(({ name }: Loose) => name)).toEqual(["istio-envoy", "ebb", "ebb-annotations"]);
  expect(spec.containers[0].env[0]).toEqual({ name: "DAPR_HTTP_PORT", value: "3500" });
});

test("where others have only added, nothing changes, whatever the order", () => {
  const pod = structuredClone(changed());
  pod.spec.initContainers.unshift({ name: "istio-init" });
  pod.spec.volumes.push({ name: "istio-envoy", emptyDir: {} });
  pod.spec.containers[0].volumeMounts.unshift({ name: "istio-envoy", mountPath: "/x" });
  expect(injectPod(pod, policy)).toMatchObject({ kind: "unchanged" });
});

test("what somebody has changed since is put right, and what they took over is left to them", () => {
  const { spec } = again({}, (pod) => {
    pod.spec.containers[0].command = ["/other", "run", "--", "x"];
    pod.spec.containers[0].lifecycle = { preStop: { exec: { command: ["/flush"] } } };
    pod.spec.initContainers = [];
  });
  expect(spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/other", "run", "--", "x"]);
  expect(spec.containers[0].lifecycle.preStop.exec.command).toEqual(["/flush"]);
  expect(spec.initContainers[0].name).toBe("ebb-install");
});

test.each(["", "{", "[]", "null", '{"containers":[]}', '{"containers":{"app":{"env":"x"}}}'])(
  "a status that ebb has not written is refused: %s",
  (text) => {
    expect(refusal({ annotations: { "ebb.dev/status": text } })).toEqual([
      [
        "metadata.annotations[ebb.dev/status]",
        expect.stringContaining("expected what ebb has written there: put that back"),
      ],
    ]);
  },
);

test("a status that claims what is not ebb's takes nothing away", () => {
  const preStop = { exec: { command: ["/flush"] } };
  const env = [{ name: "PATH", value: "/bin" }];
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const containers = [app({ env, volumeMounts, lifecycle: { preStop } })];
  const initContainers = [app({ name: "istio-init" }), app({ name: "ebb-install" })];
  const volumes = [{ name: "data", emptyDir: {} }];
  const status = { containers: { app: { command: "entrypoint", env: ["PATH"], hook: true } }, volumes: ["data"] };
  const { spec } = changed({
    containers,
    spec: { initContainers, volumes },
    annotations: { "ebb.dev/status": JSON.stringify(status) },
  });
  expect(spec.containers[0]).toMatchObject({ env: expect.arrayContaining(env), lifecycle: { preStop } });
  expect(spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/app", "serve"]);
  expect(spec.containers[0].volumeMounts[0]).toEqual(volumeMounts[0]);
  expect(spec.initContainers.slice(1)).toEqual(initContainers);
  expect(spec.volumes[0]).toEqual(volumes[0]);
});

test("a status that claims names for Cluster Autoscaler that are not ebb's takes none away", () => {
  const status = JSON.stringify({ containers: {}, volumes: ["ebb", "data"], localVolumes: ["ebb", "data"] });
  const pod = podOf({ annotations: { [LOCAL_VOLUMES]: "data,ebb", "ebb.dev/status": status } });
  expect(removeFromPod(pod)).toMatchObject({
    kind: "removed",
    pod: podOf({ annotations: { [LOCAL_VOLUMES]: "data" } }),
  });
});

test("options of a status that ebb would not have written are none", () => {
  const status = { containers: {}, options: { grace: "soon", nothing: "1", drain: "9s" } };
  const { spec } = changed({
    annotations: { "ebb.dev/status": JSON.stringify(status) },
    spec: { restartPolicy: "Never" },
  });
  expect(spec.containers[0].env.map(({ name }: Loose) => name)).toEqual([
    "EBB_RESTART_POLICY",
    "EBB_POD_GRACE",
    "EBB_DRAIN",
  ]);
});

test("a pod that says no stays as it is where ebb is not in it", () => {
  expect(injectPod(podOf({ annotations: { "ebb.dev/inject": "false" } }), policy).kind).toBe("unchanged");
});
