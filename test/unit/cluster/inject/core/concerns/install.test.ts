import { expect, test } from "bun:test";
import { app, changed, type Given, type Loose, refusal } from "../injection.ts";

const mounted = (volumeMounts: readonly object[], volumes: readonly object[] = []): Given => ({
  containers: [app({ volumeMounts })],
  spec: { volumes },
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
