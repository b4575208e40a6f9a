import { expect, test } from "bun:test";
import { injectPod } from "../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, podIn, podOf, policy, warnings } from "./injection.ts";

test("with --all a pod of sidecars alone is left alone", () => {
  const gateway = [{ name: "proxy", image: "envoyproxy/envoy:v1.31" }];
  expect(injectPod({ spec: { containers: gateway } }, { ...policy, all: true })).toMatchObject({ kind: "unchanged" });
  const containers = [{ name: "istio-proxy" }];
  expect(injectPod({ spec: { containers } }, { ...policy, all: true })).toMatchObject({ kind: "unchanged" });
});

test("a second time nothing changes, and a newer image replaces the older one", () => {
  const once = changed();
  expect(injectPod(once, policy)).toMatchObject({ kind: "unchanged", reason: "it has ebb already" });
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
    "expected at least one container, got a list of 0",
  ],
  [
    "a command with a number in it",
    { spec: { containers: [app({ command: ["sleep", 10] })] } },
    "spec.containers[0].command[1]",
    "expected text, got a number: write it in quotes",
  ],
  [
    "an annotation that is no text",
    { metadata: { annotations: { "ebb.dev/drain": true } }, spec: { containers: [app()] } },
    "metadata.annotations[ebb.dev/drain]",
    "expected text, got a boolean: write it in quotes",
  ],
  [
    "a command that is no list",
    { spec: { containers: [app({ command: "/app" })] } },
    "spec.containers[0].command",
    'expected a list, got "/app"',
  ],
  [
    "a container without a name",
    { spec: { containers: [app(), app({ name: undefined })] } },
    "spec.containers[1].name",
    "a container without a name",
  ],
  [
    "an init container with an empty name",
    { spec: { containers: [app()], initContainers: [app({ name: null })] } },
    "spec.initContainers[0].name",
    "a container without a name",
  ],
  [
    "a volume without a name",
    { spec: { containers: [app()], volumes: [{ emptyDir: {} }] } },
    "spec.volumes[0].name",
    "a volume without a name",
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
    "expected text, got a number: write it in quotes",
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
    "containers as a map of names",
    { spec: { containers: { web: { image: "x" } } } },
    "spec.containers",
    'expected a list, got an object: begin each item with a dash, as in "- name: web"',
  ],
  [
    "a container without its dash",
    { spec: { containers: { image: "x", name: "web" } } },
    "spec.containers",
    'expected a list, got an object: begin each item with a dash, as in "- name: web"',
  ],
  [
    "one without a name, too",
    { spec: { containers: { image: "x" } } },
    "spec.containers",
    'expected a list, got an object: begin each item with a dash, as in "- name: NAME"',
  ],
  [
    "a variable without its dash",
    { spec: { containers: [app({ env: { name: "A", value: "b" } })] } },
    "spec.containers[0].env",
    'expected a list, got an object: begin each item with a dash, as in "- name: A"',
  ],
  [
    "a command as a map, whose items have no names",
    { spec: { containers: [app({ command: { sh: "-c" } })] } },
    "spec.containers[0].command",
    "expected a list, got an object",
  ],
  [
    "two containers of one name",
    { spec: { containers: [app(), app()] } },
    "spec.containers[1].name",
    `"app" is the name of two containers`,
  ],
])("%s is refused, with field and value", (_, pod, field, message) => {
  expect(injectPod(pod, { ...policy, all: true })).toMatchObject({ kind: "refused", problems: [{ field, message }] });
});

test("a pod of any size has an answer of few words", () => {
  const image = "a".repeat(780);
  const containers = Array.from({ length: 10_000 }, (_, at) => ({ name: `a${at}`, image }));
  const problemsOf = (said: object, spec: object) => {
    const injection = injectPod({ metadata: { annotations: { "ebb.dev/inject": "true", ...said } }, spec }, policy);
    return "problems" in injection ? injection.problems : [];
  };
  const unknown = problemsOf({}, { containers, restartPolicy: "Never" });
  expect(unknown).toHaveLength(51);
  expect(JSON.stringify(unknown).length).toBeLessThan(51 * 1200);
  expect(unknown[50]?.message).toBe("and 9950 more, which are not listed");
  const stray = problemsOf({ "ebb.dev/apps": "b".repeat(200).concat(",").repeat(1000) }, { containers });
  expect(JSON.stringify(stray).length).toBeLessThan(51 * 4200);
  const broken = problemsOf({}, { containers: containers.map(() => ({ name: 1, env: [1, 2, 3] })) });
  expect(broken).toHaveLength(4); // of the first container
}, 120_000);

test("what Kubernetes refuses for its length is refused", () => {
  const long = injectPod(podOf({ annotations: { "ebb.dev/inject": "9".repeat(256 * 1024) } }), policy);
  expect(long).toMatchObject({ kind: "refused", isMistake: false, problems: [{ field: "metadata.annotations" }] });
  const [name, other] = ["n".repeat(63), "n".repeat(64)];
  expect(injectPod(podOf({ spec: { containers: [{ ...app(), name }] } }), policy).kind).toBe("changed");
  expect(injectPod(podOf({ spec: { containers: [{ ...app(), name: other }] } }), policy)).toMatchObject({
    kind: "refused",
    problems: [{ field: "spec.containers[0].name", message: `expected at most 63 characters, got "${other}"` }],
  });
});

test("a pod whose annotations have no room for the status is left as it is, and no byte short of that", () => {
  const withNote = (length: number) => podOf({ annotations: { note: "ä".repeat(length / 2) } });
  const { note: _, ...others } = podIn(injectPod(withNote(2), policy)).metadata.annotations;
  const room = 256 * 1024 - "note".length - Object.entries(others).flat().join("").length;
  const most = room - (room % 2);
  expect(injectPod(withNote(most), policy).kind).toBe("changed");
  const left = injectPod(withNote(most + 2), policy);
  expect(left).toMatchObject({ kind: "skipped", isMistake: true, problems: [{ field: "metadata.annotations" }] });
});

test("other annotations are nobody's business", () => {
  const annotations = { "prometheus.io/scrape": "true", "ebb.developer/x": "1" };
  expect(warnings({ annotations })).toEqual([]);
  const pod = { metadata: { annotations: { ...annotations, "ebb.dev/status": "{}" } }, spec: { containers: [app()] } };
  expect(injectPod(pod, policy).warnings).toEqual([]);
});

test("many containers, and many names in annotations, take no time that grows with both", () => {
  const containers = Array.from({ length: 20_000 }, (_, at) => ({ name: `a${at}`, command: ["/a"], image: "envoy" }));
  const names = Array.from({ length: 40_000 }, (_, at) => `b${at}`).join(",");
  const status = JSON.stringify({ containers: names.slice(0, 100_000).split(",") });
  const said: readonly Record<string, string>[] = [
    { "ebb.dev/sidecars": names, "ebb.dev/apps": "a0" },
    { "ebb.dev/apps": `a0,${names}` },
    { "ebb.dev/native": "true", "ebb.dev/apps": "a0", "sidecar.istio.io/status": status },
  ];
  for (const annotations of said) {
    const start = performance.now();
    injectPod(
      { metadata: { annotations: { "ebb.dev/inject": "true", ...annotations } }, spec: { containers } },
      policy,
    );
    expect(performance.now() - start).toBeLessThan(20_000); // a second; it was more than a minute
  }
}, 120_000);
