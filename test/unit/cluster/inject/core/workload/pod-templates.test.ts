import { describe, expect, test } from "bun:test";
import { templatesIn } from "../../../../../../src/cluster/inject/core/workload/pod-templates.ts";
import { describePath } from "../../../../../../src/shared/core/json.ts";

const template = { spec: { containers: [{ name: "app" }] } };
const never = { spec: { ...template.spec, restartPolicy: "Never" } };

describe("the pod templates of", () => {
  test.each<[string, string, object, readonly string[]]>([
    ["v1", "Pod", template, [""]],
    ["v1", "ReplicationController", { spec: { template } }, ["spec.template"]],
    ["v1", "PodTemplate", { template }, ["template"]],
    ["apps/v1", "Deployment", { spec: { template } }, ["spec.template"]],
    ["batch/v1", "CronJob", { spec: { jobTemplate: { spec: { template } } } }, ["spec.jobTemplate.spec.template"]],
    [
      "jobset.x-k8s.io/v1alpha2",
      "JobSet",
      { spec: { replicatedJobs: [{ template: { spec: { template } } }, { template: { spec: { template: never } } }] } },
      [
        "spec.replicatedJobs[0].template.spec.template OnFailure",
        "spec.replicatedJobs[1].template.spec.template Never",
      ],
    ],
    [
      "kubeflow.org/v1",
      "PyTorchJob",
      { spec: { pytorchReplicaSpecs: { Master: { template }, Worker: { template, restartPolicy: "ExitCode" } } } },
      ["spec.pytorchReplicaSpecs.Master.template OnFailure", "spec.pytorchReplicaSpecs.Worker.template Never"],
    ],
    [
      "kubeflow.org/v1",
      "JAXJob",
      { spec: { jaxReplicaSpecs: { Worker: { template } } } },
      ["spec.jaxReplicaSpecs.Worker.template Never"],
    ],
    [
      "kubeflow.org/v2beta1",
      "MPIJob",
      { spec: { mpiReplicaSpecs: { Launcher: { template }, Worker: { template, restartPolicy: "OnFailure" } } } },
      ["spec.mpiReplicaSpecs.Launcher.template OnFailure", "spec.mpiReplicaSpecs.Worker.template OnFailure"],
    ],
    [
      "kubeflow.org/v2beta1",
      "MPIJob",
      { spec: { mpiReplicaSpecs: { Worker: { template } } } },
      ["spec.mpiReplicaSpecs.Worker.template Never"],
    ],
    [
      "kubeflow.org/v1",
      "MPIJob",
      { spec: { mpiReplicaSpecs: { Launcher: { template }, Worker: { template } } } },
      ["spec.mpiReplicaSpecs.Launcher.template Never", "spec.mpiReplicaSpecs.Worker.template Never"],
    ],
    [
      "keda.sh/v1alpha1",
      "ScaledJob",
      { spec: { jobTargetRef: { template } } },
      ["spec.jobTargetRef.template OnFailure"],
    ],
    ["argoproj.io/v1alpha1", "Rollout", { spec: { template } }, ["spec.template"]],
    ["apps.openshift.io/v1", "DeploymentConfig", { spec: { template } }, ["spec.template"]],
    ["batch.volcano.sh/v1alpha1", "Job", { spec: { tasks: [{ template }] } }, ["spec.tasks[0].template"]],
    ["apps.kruise.io/v1beta1", "BroadcastJob", { spec: { template } }, ["spec.template OnFailure"]],
    [
      "apps.kruise.io/v1alpha1",
      "AdvancedCronJob",
      { spec: { template: { broadcastJobTemplate: { spec: { template } } } } },
      ["spec.template.broadcastJobTemplate.spec.template OnFailure"],
    ],
    [
      "apps.kruise.io/v1beta1",
      "AdvancedCronJob",
      { spec: { template: { jobTemplate: { spec: { template } } } } },
      ["spec.template.jobTemplate.spec.template"],
    ],
    ["v1", "DeploymentConfig", { spec: { template } }, ["spec.template"]],
    ["apps.kruise.io/v1alpha1", "CloneSet", { spec: { template } }, ["spec.template"]],
    [
      "leaderworkerset.x-k8s.io/v1",
      "LeaderWorkerSet",
      { spec: { leaderWorkerTemplate: { workerTemplate: template } } },
      ["spec.leaderWorkerTemplate.workerTemplate"],
    ],
    ["", "StatefulSet", { spec: { template } }, ["spec.template"]],
    ["extensions/v1beta1", "DaemonSet", { spec: { template } }, ["spec.template"]],
    ["batch/v1", "Job", { spec: {} }, []],
    ["argoproj.io/v1alpha1", "Rollout", { spec: { workloadRef: { name: "web" } } }, []],
    ["keda.sh/v1alpha1", "ScaledJob", { spec: null }, []],
  ])("%s %s", (apiVersion, kind, rest, places) => {
    const found = templatesIn({ apiVersion, kind, ...rest });
    const texts = found.map(({ path, restartPolicy = "" }) => `${describePath(path)} ${restartPolicy}`.trim());
    expect(texts).toEqual(places as string[]);
  });

  test.each([
    ["serving.knative.dev/v1", "Service"],
    ["argoproj.io/v1alpha1", "Workflow"],
    ["v1", "Service"],
    ["example.com/v1", "Deployment"],
    ["example.com/v1", "Pod"],
    ["", "Rollout"],
    ["v1", "constructor"],
  ])("%s %s are not known", (apiVersion, kind) => {
    expect(templatesIn({ apiVersion, kind, spec: { template } })).toEqual([]);
  });
});
