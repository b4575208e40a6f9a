import { expect, test } from "bun:test";
import { whyLeft } from "../../../../../../src/cluster/inject/core/workload/other-kinds.ts";

const template = { spec: { containers: [{ name: "app" }] } };
const asks = { "ebb.dev/inject": "true" };

test.each<[string, object]>([
  ["Knative's Service", { apiVersion: "serving.knative.dev/v1", kind: "Service", spec: { template } }],
  [
    "KubeRay's RayCluster",
    { kind: "RayCluster", spec: { headGroupSpec: { template }, workerGroupSpecs: [{ template }] } },
  ],
  ["Argo's Workflow", { kind: "Workflow", spec: { templates: [{ name: "main", container: { image: "r/app" } }] } }],
  ["a script of it", { kind: "Workflow", spec: { templates: [{ name: "main", script: { image: "r/app" } }] } }],
  [
    "Argo's CronWorkflow",
    { kind: "CronWorkflow", spec: { workflowSpec: { templates: [{ container: { image: "x" } }] } } },
  ],
  ["Tekton's Task", { apiVersion: "tekton.dev/v1", kind: "Task", spec: { steps: [{ image: "r/app", script: "x" }] } }],
  ["Tekton's Pipeline", { kind: "Pipeline", spec: { tasks: [{ taskSpec: { steps: [{ image: "r/app" }] } }] } }],
  ["Strimzi's whole pods", { kind: "StrimziPodSet", spec: { pods: [{ kind: "Pod", ...template }] } }],
  ["Strimzi's Kafka", { apiVersion: "kafka.strimzi.io/v1beta2", kind: "Kafka", spec: { kafka: {} } }],
  [
    "a SparkApplication",
    { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", spec: { image: "x" } },
  ],
  ["a Deployment of somebody else's", { apiVersion: "example.com/v1", kind: "Deployment", spec: { template } }],
])("%s is left as it is: its controller composes the pods", (_, object) => {
  expect(whyLeft(object as never)).toContain("its controller composes the pods");
  expect(whyLeft({ ...object, metadata: { annotations: asks } } as never)).toContain("ebb webhook changes them");
  expect(whyLeft({ ...object, metadata: { annotations: { "ebb.dev/inject": "false" } } } as never)).toBeUndefined();
});

test.each<[string, object]>([
  ["in its pods' metadata", { spec: { kafka: { template: { pod: { metadata: { annotations: asks } } } } } }],
  ["in podAnnotations", { spec: { podAnnotations: asks } }],
  ["in a list", { spec: { sets: [{ annotations: { "ebb.dev/inject": "false" } }, { annotations: asks }] } }],
  ["without quotes", { spec: { annotations: { "ebb.dev/inject": true } } }],
])("an object without containers that asks for ebb is named: %s", (_, rest) => {
  expect(whyLeft({ apiVersion: "example.com/v1", kind: "Cluster", ...rest })).toStartWith("it asks for ebb");
});

test.each<[string, object]>([
  ["a ConfigMap", { apiVersion: "v1", kind: "ConfigMap", data: { containers: "none" } }],
  ["a Service", { apiVersion: "v1", kind: "Service", spec: { ports: [{ port: 80 }] } }],
  ["a Namespace with a label", { apiVersion: "v1", kind: "Namespace", metadata: { labels: asks } }],
  ["a selector of a label", { kind: "NetworkPolicy", spec: { podSelector: { matchLabels: asks } } }],
  ["a schema", { kind: "CustomResourceDefinition", properties: { containers: { items: { type: "object" } } } }],
  ["a policy of Kyverno", { apiVersion: "kyverno.io/v1", kind: "ClusterPolicy", spec: { pattern: template } }],
  ["an image's address", { kind: "ImageRepository", spec: { image: "r/app" } }],
  ["an empty list of containers", { kind: "X", spec: { containers: [] } }],
])("nothing is said of %s", (_, object) => {
  expect(whyLeft(object as never)).toBeUndefined();
});
