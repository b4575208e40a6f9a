import { expect, test } from "bun:test";
import { injectPod } from "../../../src/core/inject/patch.ts";
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

test("the containers that ebb starts are told, and no others", () => {
  const containers = [app({ name: "a" }), app({ name: "b", command: ["/ebb", "/b"] }), { name: "envoy" }];
  expect(injectPod(podOf({ containers }), policy)).toMatchObject({ kind: "changed", containers: ["a"] });
});

test("a container that starts an ebb of its own and tells it all is left as it is", () => {
  const env = ["EBB_RESTART_POLICY", "EBB_POD_GRACE", "EBB_POD_ANNOTATIONS"].map((name) => ({ name, value: "x" }));
  const containers = [app({ command: ["/ebb", "/app"], env })];
  const reason = "there is nothing to change in it";
  expect(injectPod(podOf({ containers }), policy)).toMatchObject({ kind: "unchanged", reason });
  const other = changed({
    containers: [...containers, app({ name: "b", command: ["/ebb", "/b"], env: env.slice(1) })],
  });
  expect(other.spec.containers[0]).toEqual(containers[0]);
  expect(Object.keys(other.spec)).toEqual(["containers"]);
  expect(Object.keys(other.spec.containers[1])).toEqual(["name", "image", "command", "env"]);
});

test("a value that is not in quotes is named with what to write", () => {
  expect(injectPod(asks(true), policy)).toMatchObject({
    asked: true,
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
  ["its node selector", { nodeSelector: { "kubernetes.io/os": "windows" } }, "spec.nodeSelector[kubernetes.io/os]"],
  [
    "its node selector of old",
    { nodeSelector: { "beta.kubernetes.io/os": "windows" } },
    "spec.nodeSelector[beta.kubernetes.io/os]",
  ],
  [
    "a process of the host",
    { securityContext: { windowsOptions: { hostProcess: true } } },
    "spec.securityContext.windowsOptions.hostProcess",
  ],
])("a pod for Windows, by %s, is refused; with --all alone it is left alone", (_, spec, field) => {
  expect(refusal({ spec })).toEqual([[field, "ebb is for Linux, and this pod is for Windows"]]);
  const pod = { spec: { containers: [app()], ...spec } };
  expect(injectPod(pod, { ...policy, all: true })).toMatchObject({ kind: "unchanged" });
});

test("with --all a pod of sidecars alone is left alone; one that asks for it is told", () => {
  const gateway = [{ name: "proxy", image: "envoyproxy/envoy:v1.31" }];
  expect(injectPod({ spec: { containers: gateway } }, { ...policy, all: true })).toMatchObject({ kind: "unchanged" });
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
      message: 'ignored: the pod does not say ebb.dev/inject: "true"',
    },
  ]);
  const no = podOf({ annotations: { ...annotations, "ebb.dev/inject": "false" } });
  expect(injectPod(no, policy)).toMatchObject({ reason: 'it says ebb.dev/inject: "false"', warnings: [] });
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
    "a command that is no list",
    { spec: { containers: [app({ command: "/app" })] } },
    "spec.containers[0].command",
    'expected a list, got "/app"',
  ],
  [
    "an object in the place of a word",
    { spec: { containers: [app({ command: [{}] })] } },
    "spec.containers[0].command[0]",
    "expected text, got an object",
  ],
  [
    "a node selector that is no text",
    { spec: { containers: [app()], nodeSelector: { x: 5 } } },
    "spec.nodeSelector.x",
    'expected text, got 5: write it in quotes, "5"',
  ],
  [
    "a grace period in quotes",
    { spec: { containers: [app()], terminationGracePeriodSeconds: "30" } },
    "spec.terminationGracePeriodSeconds",
    'expected a number, got "30"',
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

test("a pod of any size has an answer of few words", () => {
  const image = "a".repeat(5000);
  const containers = Array.from({ length: 10_000 }, (_, at) => ({ name: `a${at}`, image }));
  const problemsOf = (said: object, spec: object) => {
    const injection = injectPod({ metadata: { annotations: { "ebb.dev/inject": "true", ...said } }, spec }, policy);
    return injection.kind === "refused" ? injection.problems : [];
  };
  const unknown = problemsOf({}, { containers });
  expect(unknown).toHaveLength(51);
  expect(unknown[0]?.message).toEndWith("more characters)");
  expect(unknown[50]?.message).toBe("and 9950 more, which are not listed");
  const stray = problemsOf({ "ebb.dev/containers": "b".repeat(200).concat(",").repeat(1000) }, { containers });
  expect(JSON.stringify(stray).length).toBeLessThan(51 * 4200);
  const broken = problemsOf({}, { containers: containers.map(() => ({ name: 1, env: [1, 2, 3] })) });
  expect(broken).toHaveLength(4); // of the first container
}, 120_000);

test("what Kubernetes refuses for its length is refused", () => {
  const long = injectPod(podOf({ annotations: { "ebb.dev/inject": "9".repeat(256 * 1024) } }), policy);
  expect(long).toMatchObject({ kind: "refused", asked: false, problems: [{ field: "metadata.annotations" }] });
  const [name, other] = ["n".repeat(63), "n".repeat(64)];
  expect(injectPod(podOf({ spec: { containers: [{ ...app(), name }] } }), policy).kind).toBe("changed");
  expect(injectPod(podOf({ spec: { containers: [{ ...app(), name: other }] } }), policy)).toMatchObject({
    kind: "refused",
    problems: [{ field: "spec.containers[0].name", message: `expected at most 63 characters, got "${other}"` }],
  });
});

test("other annotations are nobody's business", () => {
  const annotations = { "prometheus.io/scrape": "true", "ebb.developer/x": "1" };
  expect(warnings({ annotations })).toEqual([]);
  const pod = { metadata: { annotations: { ...annotations, "ebb.dev/status": "{}" } }, spec: { containers: [app()] } };
  expect(injectPod(pod, policy).warnings).toEqual([]);
});
