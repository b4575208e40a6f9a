import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  type Path,
  textOf,
  valueAt,
} from "../../../../shared/core/json.ts";
import type { Container } from "../pod.ts";

/** Where a kind's pod templates are, and what its controller sets in their pods. */
interface TemplateKind {
  /** The path to a template. `*`: each item of a list, or each value of an object. */
  readonly path: readonly string[];
  /** The restartPolicy that the controller gives the pods if there is none. Left out: Kubernetes' default. */
  readonly restartPolicy?: string;
  /** Whether the controller looks for the restartPolicy beside the template, not in it. */
  readonly isBeside?: true;
  /** Reports whether the controller sets the command of a template's first container. */
  readonly setsCommand?: (first: JsonObject) => boolean;
}

const workload: TemplateKind = { path: ["spec", "template"] };
const replicas = (field: string, restartPolicy: string, type = "*"): TemplateKind => ({
  path: ["spec", field, type, "template"],
  restartPolicy,
  isBeside: true,
});

const isEmpty = (words: unknown) => listOf(words).length === 0;

/** Where the pod templates of Kubernetes' own kinds are; `extensions` is the group that `apps` once was. */
const builtIn: ReadonlyMap<string, TemplateKind> = new Map([
  ["Pod", { path: [] }],
  ["PodTemplate", { path: ["template"] }],
  ["ReplicationController", workload],
  ["Deployment", workload],
  ["StatefulSet", workload],
  ["DaemonSet", workload],
  ["ReplicaSet", workload],
  ["Job", workload],
  ["CronJob", { path: ["spec", "jobTemplate", "spec", "template"] }],
]);
const builtInGroups = ["", "v1", "apps", "batch", "extensions"];

/**
 * The other kinds whose controllers keep the command, init containers, volumes and hooks of a template, by API group, or
 * by apiVersion where versions differ.
 * Sources: jobset api/jobset/v1alpha2/jobset_types.go; kubeflow training-operator v1
 * pkg/apis/kubeflow.org/v1/*_types.go and *_defaults.go, pkg/controller.v1/common/pod.go (setRestartPolicy); keda
 * apis/keda/v1alpha1/scaledjob_types.go; argo-rollouts pkg/apis/rollouts/v1alpha1/types.go; openshift api
 * apps/v1/types.go; volcano pkg/apis/batch/v1alpha1/job.go; kruise apis/apps/v1alpha1; lws
 * api/leaderworkerset/v1/leaderworkerset_types.go.
 */
const others: ReadonlyMap<string, readonly TemplateKind[]> = new Map([
  [
    "jobset.x-k8s.io JobSet",
    // pkg/webhooks/jobset_webhook.go (Default)
    [{ path: ["spec", "replicatedJobs", "*", "template", "spec", "template"], restartPolicy: "OnFailure" }],
  ],
  ["kubeflow.org PyTorchJob", [replicas("pytorchReplicaSpecs", "OnFailure")]],
  ["kubeflow.org TFJob", [replicas("tfReplicaSpecs", "Never")]],
  ["kubeflow.org XGBoostJob", [replicas("xgbReplicaSpecs", "Never")]],
  ["kubeflow.org PaddleJob", [replicas("paddleReplicaSpecs", "OnFailure")]],
  ["kubeflow.org JAXJob", [replicas("jaxReplicaSpecs", "Never")]],
  [
    "kubeflow.org MPIJob", // newWorker: `sleep 365d`, which replaces args, too
    [
      replicas("mpiReplicaSpecs", "Never", "Launcher"),
      { ...replicas("mpiReplicaSpecs", "Never", "Worker"), setsCommand: ({ command }) => isEmpty(command) },
    ],
  ],
  [
    "kubeflow.org/v2beta1 MPIJob", // mpi-operator pkg/apis/kubeflow/v2beta1/{constants,default}.go; newWorker: `sshd -De`
    [
      replicas("mpiReplicaSpecs", "OnFailure", "Launcher"),
      {
        ...replicas("mpiReplicaSpecs", "Never", "Worker"),
        setsCommand: ({ command, args }) => isEmpty(command) && isEmpty(args),
      },
    ],
  ],
  // pkg/scaling/executor/scale_jobs.go (generateJobs)
  ["keda.sh ScaledJob", [{ path: ["spec", "jobTargetRef", "template"], restartPolicy: "OnFailure" }]],
  ["argoproj.io Rollout", [workload]],
  ["apps.openshift.io DeploymentConfig", [workload]],
  ["v1 DeploymentConfig", [workload]], // as OpenShift 3 had it in the core group: api apps/v1/legacy.go
  ["batch.volcano.sh Job", [{ path: ["spec", "tasks", "*", "template"] }]],
  ["apps.kruise.io CloneSet", [workload]],
  ["apps.kruise.io StatefulSet", [workload]],
  ["apps.kruise.io DaemonSet", [workload]],
  // apis/apps/defaults: "Default to 'OnFailure'" with the gate TemplateNoDefaults; without it the webhook has set Always
  // before, and refuses that: "pod restartPolicy can only be Never or OnFailure"
  ["apps.kruise.io BroadcastJob", [{ ...workload, restartPolicy: "OnFailure" }]],
  [
    "apps.kruise.io AdvancedCronJob",
    [
      { path: ["spec", "template", "jobTemplate", "spec", "template"] },
      { path: ["spec", "template", "broadcastJobTemplate", "spec", "template"], restartPolicy: "OnFailure" },
    ],
  ],
  [
    "leaderworkerset.x-k8s.io LeaderWorkerSet",
    [
      { path: ["spec", "leaderWorkerTemplate", "leaderTemplate"] },
      { path: ["spec", "leaderWorkerTemplate", "workerTemplate"] },
    ],
  ],
]);

/** A pod template in an object. */
export interface FoundTemplate {
  readonly path: Path;
  readonly template: JsonObject;
  /** The restartPolicy of its pods, if that is not the template's own or Kubernetes' default. */
  readonly restartPolicy: string | undefined;
  /** Reports whether the controller sets the command of a container, as it has none. */
  readonly setsCommand: (container: Container) => boolean;
}

/**
 * Returns the pod templates of an object, with containers, whatever these are, of the kinds that ebb knows; a Pod counts
 * as its own template. Returns an empty list for other kinds.
 */
export function templatesIn(object: JsonObject): readonly FoundTemplate[] {
  return templateKindsOf(object).flatMap((kind) =>
    pathsIn(object, kind.path, []).flatMap((path) => {
      const template = valueAt(object, path);
      if (!isObject(template)) return [];
      const { containers } = objectOf(template.spec);
      if (path.length > 0 && containers == null) return [];
      const { name } = objectOf(listOf(containers)[0]);
      const setsCommand = (one: Container) => one.name === name && kind.setsCommand?.(one) === true;
      return [{ path, template, restartPolicy: restartPolicyOf(object, path, kind), setsCommand }];
    }),
  );
}

/** Returns where the templates of an object's kind are. An object without apiVersion is one of Kubernetes' own. */
function templateKindsOf(object: JsonObject): readonly TemplateKind[] {
  const [group, kind] = [groupOf(object), textOf(object.kind) ?? ""];
  const other = others.get(`${textOf(object.apiVersion)} ${kind}`) ?? others.get(`${group} ${kind}`);
  const own = builtInGroups.includes(group) ? builtIn.get(kind) : undefined;
  return other ?? (own === undefined ? [] : [own]);
}

/** Returns the API group of an object: `apps` for `apps/v1`; `v1` for the core group. */
export function groupOf({ apiVersion }: JsonObject): string {
  return (textOf(apiVersion) ?? "").split("/", 1)[0] as string;
}

function pathsIn(value: unknown, [name, ...rest]: readonly string[], path: Path): readonly Path[] {
  if (name === undefined) return [path];
  if (name !== "*") return pathsIn(objectOf(value)[name], rest, [...path, name]);
  if (Array.isArray(value)) return value.flatMap((item, at) => pathsIn(item, rest, [...path, at]));
  return Object.entries(objectOf(value)).flatMap(([key, item]) => pathsIn(item, rest, [...path, key]));
}

function restartPolicyOf(object: JsonObject, path: Path, kind: TemplateKind): string | undefined {
  const { restartPolicy, isBeside } = kind;
  const holder = isBeside ? path.slice(0, -1) : [...path, "spec"];
  const own = restartPolicy === undefined ? undefined : textOf(objectOf(valueAt(object, holder)).restartPolicy);
  return own === "ExitCode" ? "Never" : (own ?? restartPolicy);
}
