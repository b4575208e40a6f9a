import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import type { Pod } from "../../../../../../src/cluster/inject/core/pod.ts";
import {
  changeAt,
  describeRemark,
  type FoundPod,
  objectsIn,
} from "../../../../../../src/cluster/inject/core/workload/workload.ts";
import { podsIn } from "../../pods-in.ts";
import { policy } from "../injection.ts";
import { imageSays } from "../registry.ts";

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
  ...["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"].map(
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

describe("the items of a typed list, which have neither kind nor apiVersion, as the API server lists them,", () => {
  test.each<[string, string, object, string, string, readonly (string | number)[]]>([
    ["v1", "PodList", pod, "", "Pod a", []],
    ["batch/v1", "JobList", { spec: { template: pod } }, "", "Job a", ["spec", "template"]],
    ["apps/v1", "DeploymentList", { spec: { template: pod } }, "", "Deployment a", ["spec", "template"]],
    [
      "jobset.x-k8s.io/v1alpha2",
      "JobSetList",
      { spec: { replicatedJobs: [{ template: { spec: { template: pod } } }] } },
      "OnFailure",
      "JobSet a",
      ["spec", "replicatedJobs", 0, "template", "spec", "template"],
    ],
  ])("are of its kind and version: %s %s", (apiVersion, kind, object, restartPolicy, name, path) => {
    const item = { metadata: { name: "a" }, ...object };
    for (const said of [{}, { kind: "", apiVersion: null }]) {
      const [place] = podsIn({ apiVersion, kind, items: [{ ...item, ...said }] });
      expect(place).toMatchObject({ object: name, path: ["items", 0, ...path] });
      expect(place?.restartPolicy ?? "").toBe(restartPolicy);
      expect(place?.pod).toEqual(path.length > 0 ? pod : { ...item, ...said });
    }
  });

  test.each<[string, object, object]>([
    ["of an apiVersion alone", { kind: "PodList" }, { apiVersion: "v1" }],
    ["of a List, which names no kind", { kind: "List" }, {}],
  ])("are left as they are if they are %s, and have containers", (_, list, item) => {
    expect(
      objectsIn({ apiVersion: "v1", ...list, items: [{ ...item, metadata: { name: "a" }, ...pod }] }),
    ).toMatchObject([
      { object: "(without a kind) a", path: ["items", 0], reason: expect.stringContaining("it has no kind") },
    ]);
  });
});

test("an object without a kind is left as it is, and said if it has containers or asks for ebb", () => {
  const asking = { podAnnotations: { "ebb.dev/inject": "true" } };
  for (const object of [pod, asking])
    expect(objectsIn(object)).toMatchObject([{ path: [], reason: expect.stringContaining("it has no kind") }]);
  expect(objectsIn({ resources: ["a.yaml"] })).toEqual([]);
});

test("what is no object is found, wherever one is expected; nothing at all is an empty document", () => {
  for (const found of ["a text", 1, true, [], [{ kind: "Pod", ...pod }]])
    expect(objectsIn(found)).toEqual([{ path: [], found }]);
  expect(objectsIn({ kind: "List", items: [null, { kind: "PodList", items: ["x"] }] })).toEqual([
    { path: ["items", 0], found: null },
    { path: ["items", 1, "items", 0], found: "x" },
  ]);
  expect(objectsIn(null)).toEqual([]);
});

test("the objects of OpenShift's Template, and of a List in it, are looked into", () => {
  const job = { kind: "Job", metadata: { name: "a" }, spec: { template: pod } };
  for (const apiVersion of ["v1", "template.openshift.io/v1"]) {
    const template = { apiVersion, kind: "Template", objects: [{}, job, { kind: "List", items: [job] }] };
    expect(podsIn(template).map(({ path }) => path)).toEqual([
      ["objects", 1, "spec", "template"],
      ["objects", 2, "items", 0, "spec", "template"],
    ]);
  }
});

test("an object whose pods cannot be changed has its place, too, between the pods", () => {
  const metadata = { generateName: "report-" };
  const workflow = { kind: "Workflow", metadata, spec: { templates: [{ container: { image: "x" } }] } };
  const items = [{ kind: "Pod", ...pod }, workflow, { kind: "ConfigMap" }, { kind: "Pod", ...pod }];
  expect(objectsIn({ kind: "List", items })).toMatchObject([
    { path: ["items", 0] },
    { object: "Workflow report-*", path: ["items", 1], reason: expect.stringContaining("ebb webhook") },
    { path: ["items", 3] },
  ]);
  expect(podsIn(workflow)).toEqual([]);
});

describe("the restartPolicy beside a template", () => {
  const objectOf = (spec: object): object => ({
    apiVersion: "kubeflow.org/v1",
    kind: "PyTorchJob",
    spec: { pytorchReplicaSpecs: { Worker: { restartPolicy: "Never", template: { spec } } } },
  });
  const { containers } = pod.spec;

  test.each<[object]>([[{ containers }], [{ containers, restartPolicy: "Always" }]])(
    "counts for the pod, and the template keeps its own: %j",
    (spec) => {
      const [place] = podsIn(objectOf(spec)) as [FoundPod];
      const seen: unknown[] = [];
      const injection = changeAt(place, (given) => {
        seen.push(given);
        return {
          kind: "changed",
          pod: given as Pod,
          containers: [],
          drained: [],
          natives: [],
          warnings: [],
        };
      });
      expect(seen).toEqual([{ spec: { ...spec, restartPolicy: "Never" } }]);
      expect(injection).toMatchObject({ kind: "changed", pod: { spec } });
      expect("pod" in injection && Object.keys(injection.pod.spec).toSorted()).toEqual(Object.keys(spec).toSorted());
    },
  );
});

describe("a command that its controller sets in a worker of an MPIJob", () => {
  const injected = (apiVersion: string, container: object, annotations = {}) => {
    const containers = [{ name: "a", image: "x", ...container }];
    const template = { metadata: { annotations: { "ebb.dev/inject": "true", ...annotations } }, spec: { containers } };
    const [place] = podsIn({ apiVersion, kind: "MPIJob", spec: { mpiReplicaSpecs: { Worker: { template } } } });
    return changeAt(place as FoundPod, (given, atPlace) =>
      injectPod(given, { ...policy, ...imageSays({}), ...atPlace }),
    );
  };

  test.each<[string, object]>([
    ["kubeflow.org/v2beta1", {}],
    ["kubeflow.org/v1", {}],
    ["kubeflow.org/v1", { args: ["x"] }],
  ])("is left to it, with a warning: %s %j", (apiVersion, container) => {
    const injection = injected(apiVersion, container);
    const message = expect.stringContaining("its controller sets the command");
    expect(injection).toMatchObject({ kind: "skipped", problems: [{ field: "spec.containers[0].command", message }] });
  });

  test.each<[string, object, object]>([
    ["kubeflow.org/v2beta1", { args: ["x"] }, {}],
    ["kubeflow.org/v2beta1", { command: ["/a"] }, {}],
    ["kubeflow.org/v1", { command: ["/a"] }, {}],
    ["kubeflow.org/v1", {}, { "ebb.dev/entrypoint": "/a" }],
  ])("is not where it sets none: %s %j", (apiVersion, container, annotations) => {
    expect(injected(apiVersion, container, annotations)).toMatchObject({ kind: "changed", containers: ["a"] });
  });
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
  ["a Service of Knative's", { apiVersion: "serving.knative.dev/v1", kind: "Service", spec: { template: pod } }],
  ["an object without a kind", { spec: { template: pod } }],
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
