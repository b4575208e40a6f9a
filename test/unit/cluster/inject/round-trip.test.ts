import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { manualPaths } from "../../../../build/pages.ts";
import { injectPod, removeFromPod } from "../../../../src/cluster/inject/core/inject-pod.ts";
import { injectText } from "../../../../src/cluster/inject/inject-text.ts";
import { applySplices } from "../../../../src/cluster/inject/yaml/splice.ts";
import { changesIn } from "../../../harness/diffs.ts";
import { imageSays } from "./core/registry.ts";

setDefaultTimeout(120_000);

const numRuns = Number(process.env.RUNS ?? 60);

const policy = {
  image: "registry.example.com/ebb:0.1.0",
  all: true,
  volume: "emptyDir",
  options: new Map([["drain", "20s"]]),
  entrypoints: new Map(),
} as const;

/** Without a registry, and with one that knows every image. */
const policies = [policy, { ...policy, ...imageSays({ cmd: ["serve"], stopSignal: "SIGQUIT" }) }];

const root = join(import.meta.dirname, "../../../..");
const labelled = readFileSync(join(root, "test/fixtures/labelled-namespace.yaml"), "utf8");
const pages = ["README.md", ...manualPaths()];
/** The manifests of README and manual, and those that a change there leads from and to. */
const documented = pages.flatMap((page) => {
  const markdown = readFileSync(join(root, page), "utf8");
  const manifests = [...markdown.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const changed = changesIn(markdown).flatMap(({ before, after }) => [before, after]);
  return [...manifests, ...changed.filter((text) => text.startsWith("apiVersion: "))].map(
    (text, at): [string, string] => [`${page}, the manifest ${at + 1}`, text],
  );
});

const container = (more: string) => `        - name: app # the app
          image: registry.example.com/app
          command: ["/app"]
${more}`;
const deployment = (more: string) => `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  template:
    spec:
      containers:
${container(more)}        - { name: envoy, image: "envoyproxy/envoy:v1.31", lifecycle: { preStop: { exec: { command: [sleep, "5"] } } } }
`;

const written: readonly (readonly [string, string])[] = [
  ["images whose command only a registry knows", labelled],
  [
    "a hook that sleeps, in a block",
    deployment(
      '          lifecycle:\n            preStop:\n              exec:\n                command:\n                  - sleep\n                  - "15"\n',
    ),
  ],
  [
    "a hook that sleeps, in brackets",
    deployment('          lifecycle: { preStop: { exec: { command: ["sh", "-c", "sleep 15"] } } }\n'),
  ],
  ["a hook that flushes", deployment('          lifecycle: { preStop: { exec: { command: ["/flush"] } } }\n')],
  ["a postStart hook", deployment('          lifecycle: { postStart: { exec: { command: ["/warm"] } } }\n')],
  [
    "a JobSet",
    `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: { name: train }
spec:
  replicatedJobs:
    - name: workers
      template:
        spec:
          template:
            spec:
              restartPolicy: Never
              containers:
                - { name: worker, image: registry.example.com/train, command: [/train] }
                - name: cloud-sql-proxy
                  image: gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.14.1
                  args: [--quitquitquit, --admin-port=9092]
`,
  ],
  [
    "a PyTorchJob in a List",
    `apiVersion: v1
kind: List
items:
  - apiVersion: kubeflow.org/v1
    kind: PyTorchJob
    metadata: { name: train }
    spec:
      pytorchReplicaSpecs:
        Master:
          restartPolicy: OnFailure
          template:
            spec:
              containers:
                - { name: pytorch, image: registry.example.com/train, command: [/train] }
`,
  ],
  [
    "lists and maps without a value, as Helm's charts leave them",
    `apiVersion: batch/v1
kind: Job
metadata:
  name: report
spec:
  template:
    metadata:
      annotations:
    spec:
      restartPolicy: Never
      initContainers:
      volumes: # none yet

      containers:
        - name: report
          image: registry.example.com/report
          command: ["/report"]
          env:
          volumeMounts:
        - env: # none
          name: envoy
          image: envoyproxy/envoy:v1.31
`,
  ],
  [
    "empty lists and maps, in brackets and braces",
    `kind: Deployment
metadata: { name: web }
spec:
  template:
    metadata: {}
    spec:
      initContainers: []
      volumes: [] # none
      containers:
        - name: app
          image: registry.example.com/app
          command: []
          args: []
          env: []
          volumeMounts: []
          lifecycle: {}
        - { name: envoy, image: "envoyproxy/envoy:v1.31", volumeMounts: [], lifecycle: { preStop: {} } }
        - { name: app-2, image: b, command: [ ], volumeMounts:  [], env: ~, lifecycle: { preStop: { } } }
`,
  ],
  [
    "empty lists and maps in JSON",
    `${JSON.stringify(
      {
        kind: "Pod",
        metadata: { annotations: {} },
        spec: {
          initContainers: null,
          volumes: [],
          containers: [
            { name: "app", command: ["/app"], env: null, volumeMounts: [], lifecycle: { preStop: null } },
            { name: "envoy", image: "envoyproxy/envoy:v1.31", lifecycle: {}, volumeMounts: null },
          ],
        },
      },
      null,
      2,
    )}\n`,
  ],
  [
    "empty lists and maps in JSON, as Jsonnet writes them",
    `{
   "kind": "Pod",
   "metadata": { "annotations": { } },
   "spec": {
      "initContainers": [

      ],
      "volumes": [ ],
      "containers": [
         { "name": "app", "command": ["/app"], "env": [ ], "volumeMounts": [ ], "lifecycle": { "preStop": { } } },
         { "name": "envoy", "image": "envoyproxy/envoy:v1.31", "lifecycle": { } }
      ]
   }
}
`,
  ],
  [
    "an empty list beside one to which a sidecar moves",
    `kind: Pod
metadata:
  annotations: { ebb.dev/inject: "true", ebb.dev/native: "true" }
spec:
  initContainers: []
  volumes:
  containers:
    - name: app
      command: ["/app"]
    - {name: sql, image: cloud-sql-proxy}
`,
  ],
  ...["cache", '"cache"', "'tmp,cache'", '""', "cache, ebb", "ebb", "ebb-apps"].map(
    (value) =>
      [
        `emptyDirs that Cluster Autoscaler is told of: ${value}`,
        `kind: Job
spec:
  template:
    metadata:
      annotations:
        cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: ${value} # not needed
    spec:
      containers:
        - { name: a, command: [/a] }
        - { name: b, command: [/b] }
`,
      ] as const,
  ),
  ...["cache", '"cache"', "'tmp,cache'"].map(
    (value) =>
      [
        `emptyDirs that Cluster Autoscaler is told of in braces: ${value}`,
        `kind: Pod
metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: ${value}, a: b}}
spec: {containers: [{name: a, command: [/a]}]}
`,
      ] as const,
  ),
  [
    "a template whose metadata are without a value",
    `kind: Job
spec:
  template:
    metadata:
    spec:
      containers:
        - command: ["/app"]
          name: app
`,
  ],
  [
    "sidecars that become native",
    `kind: Pod
metadata:
  annotations: { ebb.dev/inject: "true", ebb.dev/sidecars: "logs", ebb.dev/native: "true" }
spec:
  containers:
    - name: logs # ships them
      image: 'fluent-bit'
      args: ["-c", /conf]
    - name: app
      command: ["/app"]
    - {name: sql, image: cloud-sql-proxy}
`,
  ],
];

function changed(text: string, changePod: Parameters<typeof injectText>[2]): string {
  const { splices, problems } = injectText("it.yaml", text, changePod);
  expect(problems).toEqual([]);
  return applySplices(text, splices);
}

/** What comes back in block style, whatever it was. */
const unbraced =
  "          lifecycle:\n            preStop:\n              exec:\n                command:\n                  - sh\n                  - -c\n                  - sleep 15\n";
const inBraces = '          lifecycle: { preStop: { exec: { command: ["sh", "-c", "sleep 15"] } } }\n';

test.each([...documented, ...written])("ebb put in, put in again and taken out: %s", (_, text) => {
  for (const one of policies) {
    const inject = (from: string) => changed(from, (pod, place) => injectPod(pod, { ...one, ...place }));
    const injected = inject(text);
    expect(inject(injected)).toBe(injected);
    expect(changed(injected, removeFromPod)).toBe(text.replace(inBraces, unbraced));
  }
});

test.each(written)("the same with a last line that has no line break: %s", (_, text) => {
  for (const newline of ["\n", "\r\n"]) {
    const cut = text.trimEnd().replaceAll("\n", newline);
    expect(
      changed(
        changed(cut, (pod, place) => injectPod(pod, { ...policy, ...place })),
        removeFromPod,
      ),
    ).toBe(cut.replace(inBraces.replaceAll("\n", newline), unbraced.replaceAll("\n", newline)));
  }
});

describe("pods of images whose command only a registry knows", () => {
  const remarksOf = (one: (typeof policies)[number]) =>
    injectText("all.yaml", labelled, (pod) => injectPod(pod, one)).remarks.filter(
      (line) => !line.includes("warning: "),
    );

  test("get what they can have without one: those that run on the drain, and Jobs nothing", () => {
    expect(remarksOf(policy)).toEqual([
      "Job report: unchanged: its command is not known",
      "CronJob cleanup: unchanged: its command is not known",
      "Deployment shop: added only a drain to shop",
      "StatefulSet queue: added only a drain to queue",
      "Pod debug: added only a drain to debug",
    ]);
  });

  test("get all with one", () => {
    const names = ["Job report", "CronJob cleanup", "Deployment shop", "StatefulSet queue", "Pod debug"];
    const own = names.map((object) => `${object}: put ebb into ${object.split(" ")[1]}`);
    expect(remarksOf(policies[1] as typeof policy)).toEqual(own);
  });
});

const oneOf = (...all: string[]) => fc.constantFrom(...all);

/** Generates a field in which nothing is, as somebody may write it. */
function emptyField(indent: string, name: string, pair = "[]"): fc.Arbitrary<string> {
  const below = `\n${indent}  `;
  const [open, close] = [...pair];
  const gap = oneOf(
    " ",
    "   ",
    below,
    below,
    ` ${below}`,
    ` # c${below}`,
    `${below}# c${below}`,
    ` # c\n${below}# d${below}`,
  );
  const shown = fc.tuple(gap, oneOf(pair, pair, `${open} ${close}`, `${open}${below}${close}`, "~", "null"));
  const tail = oneOf("", "", " ", " # e", " # e ", `${below}# f`, "\n");
  return fc
    .tuple(
      fc.oneof(
        shown.map((both) => both.join("")),
        oneOf("", " ", "   ", " # c", `${below}# c`),
      ),
      tail,
    )
    .map(([text, rest]) => `${indent}${name}:${text}${rest}\n`);
}

/** Generates documents with such fields wherever ebb adds something. */
const anyEmpties: fc.Arbitrary<string> = fc
  .tuple(
    oneOf("apiVersion: v1\nkind: Pod\n", "kind: Pod\n"),
    fc.oneof(
      emptyField("", "metadata", "{}"),
      emptyField("  ", "annotations", "{}").map((text) => `metadata:\n  name: a\n${text}`),
    ),
    emptyField("  ", "volumes"),
    emptyField("  ", "initContainers"),
    fc.uniqueArray(oneOf("app", "envoy", "b"), { minLength: 1, maxLength: 3 }),
    fc.tuple(
      ...["command", "env", "volumeMounts"].map((name) => emptyField("    ", name)),
      fc.oneof(
        emptyField("    ", "lifecycle", "{}"),
        emptyField("      ", "preStop", "{}").map((text) => `    lifecycle:\n${text}`),
      ),
    ),
    fc.boolean(),
  )
  .map(([head, metadata, volumes, inits, names, fields, isLast]) => {
    const containers = names.map((name) => `  - name: ${name}\n    image: x\n${fields.join("")}`).join("");
    const rest = isLast ? volumes + inits : "";
    return `${head}${metadata}spec:\n${isLast ? "" : volumes + inits}  containers:\n${containers}${rest}`;
  });

test("what was empty comes back as it was written", () => {
  const property = fc.property(
    fc.array(anyEmpties, { minLength: 1, maxLength: 3 }),
    oneOf("\n", "\r\n"),
    fc.boolean(),
    (all, newline, isCut) => {
      const whole = all.join("---\n").replaceAll("\n", newline);
      const text = isCut ? whole.trimEnd() : whole;
      const one = policies[1] as typeof policy;
      const inject = (from: string, image: string) =>
        changed(from, (pod, place) => injectPod(pod, { ...one, ...place, image }));
      const injected = inject(text, "ebb:1");
      expect(inject(injected, "ebb:1")).toBe(injected);
      expect(injected).not.toMatch(/ebb\.dev\/status.*#/);
      expect(changed(injected, removeFromPod)).toBe(text);
      expect(changed(inject(injected, "ebb:2"), removeFromPod)).toBe(text);
    },
  );
  fc.assert(property, { numRuns });
});

test.each(written)("ebb is put into %s", (_, text) => {
  expect(changed(text, (pod) => injectPod(pod, policy))).toContain("/ebb.dev/ebb");
});
