import { expect, test } from "bun:test";
import { app, changed, type Given, type Loose, refusal } from "../injection.ts";

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

test("volumes and the init container get other names where theirs are taken", () => {
  const volumes = [
    { name: "ebb", emptyDir: {} },
    { name: "ebb-2", emptyDir: {} },
    { name: "ebb-annotations", emptyDir: {} },
  ];
  const initContainers = [app({ name: "ebb-install" })];
  const { spec } = changed({ spec: { volumes, initContainers } });
  expect(spec.volumes.slice(3).map(({ name }: Loose) => name)).toEqual(["ebb-3", "ebb-annotations-2"]);
  expect(spec.initContainers.map(({ name }: Loose) => name)).toEqual(["ebb-install-2", "ebb-install"]);
  expect(spec.initContainers[0].volumeMounts).toEqual([{ name: "ebb-3", mountPath: "/ebb.dev" }]);
  expect(spec.containers[0].volumeMounts.map(({ name }: Loose) => name)).toEqual(["ebb-3", "ebb-annotations-2"]);
});

test("the init container has no other container's name either", () => {
  expect(changed({ containers: [app({ name: "ebb-install" })] }).spec.initContainers[0].name).toBe("ebb-install-2");
});

test.each(["/ebb.dev", "/ebb.dev/", "/ebb.dev/config", "//ebb.dev/./x"])(
  "a mount in ebb's place is refused: %s",
  (mountPath) => {
    const mounts = [
      { name: "a", mountPath: "/a" },
      { name: "a", mountPath },
    ];
    expect(refusal(mounted(mounts, [{ name: "a", emptyDir: {} }]))).toEqual([
      ["spec.containers[0].volumeMounts[1].mountPath", "ebb is mounted at /ebb.dev: mount this elsewhere"],
    ]);
  },
);

test("a mount beside ebb's place is none in its way", () => {
  expect(changed(mounted([{ name: "a", mountPath: "/ebb.developer" }])).spec.containers[0].volumeMounts).toHaveLength(
    3,
  );
});

test("with --volume image the image itself is mounted, and nothing is copied", () => {
  const { spec } = changed({}, { volume: "image", imagePullPolicy: "IfNotPresent" });
  const reference = "registry.example.com/ebb:0.1.0";
  expect(spec.volumes[0]).toEqual({ name: "ebb", image: { reference, pullPolicy: "IfNotPresent" } });
  expect(spec.containers[0].volumeMounts[0]).toEqual({ name: "ebb", mountPath: "/ebb.dev", readOnly: true });
  expect(spec.initContainers).toBeUndefined();
  expect(changed({}, { volume: "image" }).spec.volumes[0].image).toEqual({ reference });
});

test("the init container's image is pulled as the policy says", () => {
  const [install] = changed({}, { imagePullPolicy: "Never" }).spec.initContainers;
  expect(install).toMatchObject({ image: "registry.example.com/ebb:0.1.0", imagePullPolicy: "Never" });
});
