import { describe, expect, test } from "bun:test";
import { app, changed, type Given, type Loose, warnings } from "../injection.ts";

function variables(pod: Loose): Readonly<Record<string, string>> {
  const env: readonly { name: string; value: string }[] = pod.spec.containers[0].env ?? [];
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

test("a variable of the manifest stays, and an annotation over which it wins is warned of", () => {
  const env = [
    { name: "EBB_GRACE", value: "7s" },
    { name: "EBB_POD_GRACE", valueFrom: { configMapKeyRef: { name: "x", key: "y" } } },
  ];
  const given = { containers: [app({ env })], annotations: { "ebb.dev/grace": "1s" } };
  const added = [
    { name: "EBB_RESTART_POLICY", value: "Always" },
    { name: "EBB_DRAIN", value: "28s" },
  ];
  expect(changed(given).spec.containers[0].env).toEqual([...env, ...added]);
  expect(warnings(given)).toEqual([
    ["spec.containers[0].env", "it sets EBB_GRACE itself, which wins over the annotation ebb.dev/grace"],
  ]);
});

const mounted = (volumeMounts: readonly object[], volumes: readonly object[] = []): Given => ({
  containers: [app({ volumeMounts })],
  spec: { volumes },
});

/** Where the pod's annotations are in the first container: what was mounted there, and what its variable says. */
function annotationsOf(given: Given): unknown {
  const { containers, volumes } = changed(given).spec;
  const [{ volumeMounts, env }] = containers;
  return {
    mounted: volumeMounts.find(({ name }: Loose) => name.startsWith("ebb-annotations"))?.mountPath,
    told: env.find(({ name }: Loose) => name === "EBB_POD_ANNOTATIONS")?.value,
    volumes: volumes.filter(({ downwardAPI }: Loose) => downwardAPI !== undefined).map(({ name }: Loose) => name),
  };
}

const annotations = [{ path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } }];
const labels = [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }];
const info = (items: readonly object[]) => ({ name: "info", downwardAPI: { items } });
const atPodinfo = { name: "info", mountPath: "/etc/podinfo/" };
const ours = { mounted: "/etc/podinfo", told: undefined, volumes: ["ebb-annotations"] };
const elsewhere = { mounted: "/ebb.dev-podinfo", told: "/ebb.dev-podinfo/annotations" };

test.each<[string, Given, object]>([
  ["mounted where ebb looks for them", {}, ours],
  [
    "not mounted twice where they are there",
    mounted([atPodinfo], [info(annotations)]),
    { mounted: undefined, told: undefined, volumes: ["info"] },
  ],
  [
    "found under another name",
    mounted([atPodinfo], [info([{ ...annotations[0], path: "of-pod" }])]),
    { mounted: undefined, told: "/etc/podinfo/of-pod", volumes: ["info"] },
  ],
  [
    "found in a projected volume",
    mounted(
      [atPodinfo],
      [{ name: "info", projected: { sources: [{ secret: {} }, { downwardAPI: { items: annotations } }] } }],
    ),
    { mounted: undefined, told: undefined, volumes: [] },
  ],
  [
    "mounted elsewhere where labels alone are there",
    mounted([atPodinfo], [info(labels)]),
    { ...elsewhere, volumes: ["info", "ebb-annotations"] },
  ],
  [
    "mounted elsewhere where a part of a volume is there",
    mounted([{ ...atPodinfo, subPath: "x" }], [info(annotations)]),
    { ...elsewhere, volumes: ["info", "ebb-annotations"] },
  ],
  [
    "mounted elsewhere where something is around that place",
    mounted([{ name: "etc", mountPath: "/etc" }], [{ name: "etc", emptyDir: {} }]),
    { ...elsewhere, volumes: ["ebb-annotations"] },
  ],
  [
    "mounted elsewhere where something is inside of that place",
    mounted([{ name: "etc", mountPath: "/etc//podinfo/x" }], [{ name: "etc", emptyDir: {} }]),
    { ...elsewhere, volumes: ["ebb-annotations"] },
  ],
  [
    "left where all is taken: ports tell, too",
    mounted(
      ["/etc/podinfo", "/ebb.dev-podinfo/x"].map((mountPath) => ({ name: "x", mountPath })),
      [{ name: "x", emptyDir: {} }],
    ),
    { mounted: undefined, told: undefined, volumes: [] },
  ],
  [
    "left where the pod says where they are",
    { annotations: { "ebb.dev/pod-annotations": "/x" } },
    { mounted: undefined, told: "/x", volumes: [] },
  ],
  [
    "left where the container says where they are",
    { containers: [app({ env: [{ name: "EBB_POD_ANNOTATIONS", value: "/y" }] })] },
    { mounted: undefined, told: "/y", volumes: [] },
  ],
  [
    "not needed where there is no sidecar to look for",
    { annotations: { "ebb.dev/sidecar": "none" } },
    { mounted: undefined, told: undefined, volumes: [] },
  ],
])("the pod's annotations are %s", (_, given, expected) => {
  expect(annotationsOf(given)).toEqual(expected);
});

const onNode = { hostNetwork: true };
const envoy = { name: "envoy", image: "envoyproxy/envoy:v1.38.0" };
const config = "node: {id: x}\nadmin:\n  address:\n    socket_address: {address: 127.0.0.1, port_value: 19906}\n";
const envoyWithPort = { ...envoy, args: ["--config-yaml", config] };
const vault = { name: "vault-agent", image: "vault" };
const vaultPort = { "vault.hashicorp.com/agent-cache-listener-port": "8300" };
const message =
  "ebb does not rely on ports on the node's network, and nothing names the pod's proxy and its port, so it finds none, and drains none: set ebb.dev/sidecar or ebb.dev/admin";
const warning: [string, string][] = [["spec.hostNetwork", message]];

describe("a pod on its node's network", () => {
  test("without a sidecar of its own does not drain, and is warned of", () => {
    const given = { spec: onNode };
    const pod = changed(given);
    expect(variables(pod)).toMatchObject({ EBB_HOST_NETWORK: "true" });
    expect(variables(pod)).not.toHaveProperty("EBB_DRAIN");
    expect(variables(pod)).not.toHaveProperty("EBB_SIDECAR");
    expect(warnings(given)).toEqual(warning);
  });

  test("that is a Job without a sidecar of its own is warned of, too", () => {
    const given = { spec: { ...onNode, restartPolicy: "Never" } };
    expect(variables(changed(given))).toMatchObject({ EBB_HOST_NETWORK: "true" });
    expect(warnings(given)).toEqual(warning);
  });

  test.each<[string, Given]>([
    ["a container's arguments", { containers: [app(), envoyWithPort] }],
    ["a native sidecar's", { spec: { initContainers: [{ ...envoyWithPort, restartPolicy: "Always" }] } }],
    [
      "an injector's annotations",
      { annotations: { "kuma.io/sidecar-injected": "true", "kuma.io/envoy-admin-port": "9911" } },
    ],
    ["the user's word", { annotations: { "ebb.dev/sidecar": "envoy:9911" } }],
    ["an admin interface", { annotations: { "ebb.dev/admin": "http://localhost:9911" } }],
    [
      "an admin interface beside a container",
      { containers: [app(), envoy], annotations: { "ebb.dev/admin": "http://localhost:9911" } },
    ],
    [
      "a variable of another tool",
      { containers: [app({ env: [{ name: "ENVOY_ADMIN_API", value: "http://localhost:9911" }] })] },
    ],
    ["a variable of ebb's", { containers: [app({ env: [{ name: "EBB_SIDECAR", value: "envoy:9911" }] })] }],
  ])("drains its proxy, and is not warned of, where that is named by %s", (_, given) => {
    const whole = { ...given, spec: { ...onNode, ...given.spec } };
    const pod = changed(whole);
    expect(variables(pod)).toMatchObject({ EBB_DRAIN: "24s" });
    expect(warnings(whole)).toEqual([]);
  });

  const leftOut = (who: string, name: string, more = "") =>
    `ebb leaves out ${who}: nothing names its address, and on the node's network its usual ports may be another pod's; set ebb.dev/sidecar: ${name}:PORT${more}`;

  test.each<[string, Given, string, unknown]>([
    ["a container", { containers: [app(), envoy] }, '"envoy" (envoy)', undefined],
    [
      "a native sidecar",
      { spec: { initContainers: [{ ...envoy, restartPolicy: "Always" }] } },
      '"envoy" (envoy)',
      undefined,
    ],
    ["the user's word", { annotations: { "ebb.dev/sidecar": "envoy" } }, "envoy", "none"],
    ["the user's word beside auto", { annotations: { "ebb.dev/sidecar": "auto,envoy" } }, "envoy", "auto"],
    ["the user's word for a container", { annotations: { "ebb.dev/sidecar.app": "envoy" } }, "envoy", "none"],
    [
      "a container, and a quit that is sent before its own",
      { containers: [app(), envoy], annotations: { "ebb.dev/quit": "+http://localhost:1/q" } },
      '"envoy" (envoy)',
      undefined,
    ],
  ])("leaves out a proxy whose address nothing names, and is warned of: %s", (_, given, who, sidecar) => {
    for (const restartPolicy of ["Always", "Never"]) {
      const whole = { ...given, spec: { ...onNode, restartPolicy, ...given.spec } };
      const pod = changed(whole);
      expect(variables(pod).EBB_SIDECAR).toBe(sidecar as never);
      for (const { lifecycle } of pod.spec.containers) expect(lifecycle).toBeUndefined();
      const said = warnings(whole).filter(([field]) => field === "spec.hostNetwork");
      expect(said).toEqual([["spec.hostNetwork", leftOut(who, "envoy", ", or ebb.dev/admin")]]);
    }
  });

  test("leaves out what the policy names without a port, and is warned of", () => {
    const given = { spec: { ...onNode, restartPolicy: "Never" } };
    const options = new Map([["sidecar", "istio,dapr:3500"]]);
    expect(variables(changed(given, { options })).EBB_SIDECAR).toBe("dapr:3500");
    expect(warnings(given, { options })).toEqual([
      ["spec.hostNetwork", leftOut("istio", "istio", ", or ebb.dev/admin")],
    ]);
  });

  test.each<[string, Given]>([
    ["its container", { containers: [app(), vault], annotations: vaultPort }],
    ["its annotation", { annotations: { "dapr.io/enabled": "true", "dapr.io/app-id": "a" } }],
    ["its variable", { containers: [app({ env: [{ name: "DAPR_HTTP_PORT", value: "3500" }] })] }],
  ])("is warned of where a companion alone is named, which has nothing to drain, by %s", (_, given) => {
    const whole = { ...given, spec: { ...onNode, ...given.spec } };
    expect(variables(changed(whole))).not.toHaveProperty("EBB_DRAIN");
    expect(warnings(whole)).toEqual(warning);
  });

  test("is not warned of where no sidecar is wanted", () => {
    expect(warnings({ annotations: { "ebb.dev/sidecar": "none" }, spec: onNode })).toEqual([]);
  });
});
