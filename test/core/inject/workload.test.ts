import { expect, test } from "bun:test";
import { describeRemark, podsIn } from "../../../src/core/inject/workload.ts";

const pod = { spec: { containers: [{ name: "app" }] } };

const objects: readonly (readonly [string, object, string, string])[] = [
  ["a Pod", { kind: "Pod", metadata: { name: "a" }, ...pod }, "Pod a", "spec.x"],
  ["a pod that gets its name later", { kind: "Pod", metadata: { generateName: "a-" }, ...pod }, "Pod a-*", "spec.x"],
  [
    "a Job, in a namespace",
    { kind: "Job", metadata: { name: "a", namespace: "shop" }, spec: { template: pod } },
    "Job shop/a",
    "spec.template.spec.x",
  ],
  [
    "a CronJob",
    { kind: "CronJob", metadata: { name: "a" }, spec: { jobTemplate: { spec: { template: pod } } } },
    "CronJob a",
    "spec.jobTemplate.spec.template.spec.x",
  ],
  [
    "a PodTemplate",
    { kind: "PodTemplate", metadata: { name: "a" }, template: pod },
    "PodTemplate a",
    "template.spec.x",
  ],
  ...["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Rollout", "Service"].map(
    (kind) =>
      [
        `a ${kind} with a template of pods`,
        { kind, metadata: { name: "a" }, spec: { template: pod } },
        `${kind} a`,
        "spec.template.spec.x",
      ] as const,
  ),
];

test.each(objects)("%s is where its pod is, under its name", (_, object, name, field) => {
  const [place] = podsIn(object);
  expect(place).toMatchObject({ object: name, pod, warnings: [] });
  expect(describeRemark(place as NonNullable<typeof place>, { field: "spec.x", message: "no" })).toBe(
    `${name}: ${field}: no`,
  );
});

test("all pods of a List are found, each with its place", () => {
  const items = [
    { kind: "ConfigMap", data: {} },
    { kind: "Job", metadata: { name: "a" }, spec: { template: pod } },
    { kind: "Pod", ...pod },
  ];
  for (const kind of ["List", "PodList"]) {
    expect(podsIn({ kind, items }).map(({ object, path }) => [object, path])).toEqual([
      ["Job a", ["items", 1, "spec", "template"]],
      ["Pod (without a name)", ["items", 2]],
    ]);
  }
});

test("a List in a List is looked into, and what is said names the place in the whole document", () => {
  const metadata = { name: "a", annotations: { "ebb.dev/drain": "1s" } };
  const inner = { kind: "List", items: [{ kind: "Job", metadata, spec: { template: pod } }] };
  const [place] = podsIn({ kind: "List", items: [{}, inner] });
  expect(place?.path).toEqual(["items", 1, "items", 0, "spec", "template"]);
  expect(place?.warnings[0]?.field).toBe("items[1].items[0].metadata.annotations[ebb.dev/drain]");
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["text", "kind: Pod"],
  ["a list", [pod]],
  ["a Service", { kind: "Service", spec: { ports: [] } }],
  ["an object that holds no containers in its template", { kind: "Workflow", spec: { template: { spec: {} } } }],
  ["a List without items", { kind: "List" }],
  ["a template that is no object", { kind: "Job", spec: { template: "x" } }],
  ["a prototype's field", { kind: "constructor", spec: { template: null } }],
])("%s has no pods", (_, document) => {
  expect(podsIn(document)).toEqual([]);
});

test("an annotation of the workload itself is said to belong to its pods", () => {
  const metadata = { name: "a", annotations: { "ebb.dev/inject": "true", other: "x" } };
  const [place] = podsIn({ kind: "CronJob", metadata, spec: { jobTemplate: { spec: { template: pod } } } });
  expect(place?.warnings).toEqual([
    {
      field: "metadata.annotations[ebb.dev/inject]",
      message: "ignored here: move it to spec.jobTemplate.spec.template.metadata.annotations",
    },
  ]);
  expect(podsIn({ kind: "Pod", metadata, ...pod })[0]?.warnings).toEqual([]);
});
