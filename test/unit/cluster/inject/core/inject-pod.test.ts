import { expect, test } from "bun:test";
import { injectPod } from "../../../../../src/cluster/inject/core/inject-pod.ts";
import { asks } from "./asking-pods.ts";
import { app, changed, podOf, policy } from "./injection.ts";

test("a pod that asks for it has ebb in it: a Job's container", () => {
  const job = { annotations: { note: "kept" }, spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 60 } };
  expect(changed(job)).toEqual({
    metadata: {
      annotations: {
        "ebb.dev/inject": "true",
        note: "kept",
        "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "ebb",
        "ebb.dev/status":
          '{"containers":{"app":{"command":"wrapped","env":["EBB_RESTART_POLICY","EBB_POD_GRACE"]}},"volumes":["ebb","ebb-annotations"],"ebb":"registry.example.com/ebb:0.1.0","localVolumes":["ebb"]}',
      },
    },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 60,
      containers: [
        {
          name: "app",
          image: "registry.example.com/app:1",
          command: ["/ebb.dev/ebb", "run", "--", "/app", "serve"],
          env: [
            { name: "EBB_RESTART_POLICY", value: "Never" },
            { name: "EBB_POD_GRACE", value: "60s" },
          ],
          volumeMounts: [
            { name: "ebb", mountPath: "/ebb.dev", readOnly: true },
            { name: "ebb-annotations", mountPath: "/etc/podinfo", readOnly: true },
          ],
        },
      ],
      initContainers: [
        {
          name: "ebb-install",
          image: "registry.example.com/ebb:0.1.0",
          command: ["/ebb", "install", "/ebb.dev/ebb"],
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"] },
            readOnlyRootFilesystem: true,
            runAsNonRoot: true,
          },
          volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }],
        },
      ],
      volumes: [
        { name: "ebb", emptyDir: { sizeLimit: "256Mi" } },
        {
          name: "ebb-annotations",
          downwardAPI: { items: [{ path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } }] },
        },
      ],
    },
  });
});

test.each<[string, unknown, boolean, string]>([
  ["a pod that says nothing is left alone", { spec: { containers: [app()] } }, false, "unchanged"],
  ["with --all it is changed", { spec: { containers: [app()] } }, true, "changed"],
  ["a pod that says true is changed", asks("true"), false, "changed"],
  ["so is one that says it as Go writes it, too", asks("T"), false, "changed"],
  ["a pod that says false is left alone, with --all too", asks("false"), true, "unchanged"],
  ["a word that is neither is refused", asks("yes"), false, "refused"],
  ["and so is what is no text", asks(true), true, "refused"],
])("%s", (_, pod, all, kind) => {
  expect(injectPod(pod, { ...policy, all }).kind).toBe(kind as "changed");
});

test("whether the pod asked for it is told: others may be let through", () => {
  const windows = { spec: { os: { name: "windows" } } };
  expect(injectPod(podOf(windows), policy)).toMatchObject({ kind: "refused", isMistake: true });
  const malformed = { spec: { containers: [{ image: "app" }] } };
  expect(injectPod(malformed, { ...policy, all: true })).toMatchObject({ kind: "refused", isMistake: false });
  const unknown = { restartPolicy: "Never", containers: [{ name: "app" }] };
  expect(injectPod(podOf({ spec: unknown }), policy)).toMatchObject({ kind: "skipped", isMistake: true });
  expect(injectPod({ spec: unknown }, { ...policy, all: true })).toMatchObject({ kind: "skipped", isMistake: false });
});

test("the containers that ebb starts are told, and no others", () => {
  const containers = [app({ name: "a" }), app({ name: "b", command: ["/ebb", "run", "/b"] }), { name: "envoy" }];
  expect(injectPod(podOf({ containers }), policy)).toMatchObject({ kind: "changed", containers: ["a"] });
});

test("a container that starts an ebb of its own and tells it all is left as it is", () => {
  const env = ["EBB_RESTART_POLICY", "EBB_POD_GRACE", "EBB_POD_ANNOTATIONS"].map((name) => ({ name, value: "x" }));
  const containers = [app({ command: ["/ebb", "run", "/app"], env })];
  const reason = "there is nothing to change";
  expect(injectPod(podOf({ containers }), policy)).toMatchObject({ kind: "unchanged", reason });
  const other = changed({
    containers: [...containers, app({ name: "b", command: ["/ebb", "run", "/b"], env: env.slice(1) })],
  });
  expect(other.spec.containers[0]).toEqual(containers[0]);
  expect(Object.keys(other.spec)).toEqual(["containers"]);
  expect(Object.keys(other.spec.containers[1])).toEqual(["name", "image", "command", "env"]);
});

test("a value that is not in quotes is named with what to write", () => {
  expect(injectPod(asks(true), policy)).toMatchObject({
    isMistake: true,
    problems: [
      {
        field: "metadata.annotations[ebb.dev/inject]",
        message: 'expected "true" or "false" in quotes, got true',
      },
    ],
  });
});

test.each<[string, object]>([
  [
    "a static pod's mirror",
    { metadata: { annotations: { "ebb.dev/inject": "true", "kubernetes.io/config.mirror": "x" } } },
  ],
])("%s is left alone", (_, pod) => {
  expect(injectPod({ ...pod, spec: { containers: [app()] } }, policy)).toMatchObject({ kind: "unchanged" });
});
