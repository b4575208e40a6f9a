import { expect, test } from "bun:test";
import { injectPod } from "../../src/core/patch.ts";
import { app, changed, podIn, podOf, policy, refusal, warnings } from "./injection.ts";

test("a pod that asks for it has ebb in it: a Job's container", () => {
  const job = { annotations: { note: "kept" }, spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 60 } };
  expect(changed(job)).toEqual({
    metadata: {
      annotations: {
        "ebb.dev/inject": "true",
        note: "kept",
        "ebb.dev/status":
          '{"containers":{"app":{"command":"wrapped","env":["EBB_RESTART_POLICY","EBB_POD_GRACE"]}},"volumes":["ebb","ebb-annotations"]}',
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
            seccompProfile: { type: "RuntimeDefault" },
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

const asks = (wish: unknown) => ({
  metadata: { annotations: { "ebb.dev/inject": wish } },
  spec: { containers: [app()] },
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
  expect(injectPod(podOf(windows), policy)).toMatchObject({ kind: "refused", asked: true });
  const unnamed = { spec: { containers: [{ name: "app" }] } };
  expect(injectPod(unnamed, { ...policy, all: true })).toMatchObject({ kind: "refused", asked: false });
});

test("a value that is not in quotes is named with what to write", () => {
  expect(injectPod(asks(true), policy)).toMatchObject({
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

test.each<[string, object, string]>([
  ["spec.os", { os: { name: "windows" } }, "spec.os.name"],
  ["its node selector", { nodeSelector: { "kubernetes.io/os": "windows" } }, "spec.nodeSelector"],
])("a pod for Windows, by %s, is refused; with --all alone it is left alone", (_, spec, field) => {
  expect(refusal({ spec })).toEqual([[field, "ebb is for Linux, and this pod is for Windows"]]);
  const pod = { spec: { containers: [app()], ...spec } };
  expect(injectPod(pod, { ...policy, all: true })).toMatchObject({ kind: "unchanged" });
});

test("with --all a pod of sidecars alone is left alone; one that asks for it is told", () => {
  const containers = [{ name: "istio-proxy" }];
  expect(injectPod({ spec: { containers } }, { ...policy, all: true })).toMatchObject({ kind: "unchanged" });
  expect(refusal({ containers })[0]?.[1]).toContain("only sidecars here (istio-proxy)");
});

test("a second time nothing changes, and a newer image replaces the older one", () => {
  const once = changed();
  expect(injectPod(once, policy)).toMatchObject({ kind: "unchanged", reason: "ebb is in it already" });
  const newer = podIn(injectPod(once, { ...policy, image: "ebb:2" }));
  expect(newer).toEqual(changed({}, { image: "ebb:2" }));
});

test("annotations of a pod that does not ask for ebb are said to mean nothing", () => {
  const annotations = { "ebb.dev/drain": "40s" };
  const { warnings: said } = injectPod({ metadata: { annotations }, spec: { containers: [app()] } }, policy);
  expect(said).toEqual([
    {
      field: "metadata.annotations[ebb.dev/drain]",
      message: 'this says nothing: it does not say ebb.dev/inject: "true"',
    },
  ]);
  expect(warnings({ annotations: { ...annotations, "ebb.dev/inject": "false" } })).toEqual([]);
});

test.each<[string, unknown, string, string]>([
  ["no pod at all", null, "", "expected an object, got null"],
  ["no spec", {}, "spec", "expected an object, got nothing"],
  [
    "no containers",
    { spec: { containers: [] } },
    "spec.containers",
    "expected one container at least, got a list of 0",
  ],
  [
    "a command with a number in it",
    { spec: { containers: [app({ command: ["sleep", 10] })] } },
    "spec.containers[0].command[1]",
    'expected text, got 10: write it in quotes, "10"',
  ],
  [
    "an annotation that is no text",
    { metadata: { annotations: { "ebb.dev/drain": true } }, spec: { containers: [app()] } },
    "metadata.annotations[ebb.dev/drain]",
    'expected text, got true: write it in quotes, "true"',
  ],
  [
    "volumes that are no list",
    { spec: { containers: [app()], volumes: {} } },
    "spec.volumes",
    "expected a list, got an object",
  ],
  [
    "two containers of one name",
    { spec: { containers: [app(), app()] } },
    "spec.containers[1].name",
    `"app" is another container's too`,
  ],
])("%s is refused, with field and value", (_, pod, field, message) => {
  expect(injectPod(pod, { ...policy, all: true })).toMatchObject({ kind: "refused", problems: [{ field, message }] });
});
