import { isSidecar } from "../../../core/containers.ts";
import type { Container, Pod } from "../pod.ts";
import { actionsRunner } from "./actions-runner.ts";
import { airflow } from "./airflow.ts";
import { argoWorkflows } from "./argo-workflows.ts";
import { buildkite } from "./buildkite.ts";
import { drone } from "./drone.ts";
import { gitlabRunner } from "./gitlab-runner.ts";
import { jenkins } from "./jenkins.ts";
import { katib } from "./katib.ts";
import { knative } from "./knative.ts";
import { kubeflowPipelines } from "./kubeflow-pipelines.ts";
import { kubeRay } from "./kuberay.ts";
import { kubeVirt } from "./kubevirt.ts";
import type { Orchestrator, Role } from "./orchestrator.ts";
import { prow } from "./prow.ts";
import { spark } from "./spark.ts";
import { tekton } from "./tekton.ts";

/**
 * The orchestrators that ebb knows. The first that made a pod decides. Kueue and JobSet are none of them: they add no
 * containers (kueue v0.17.0, ran test/orchestrators/kueue.test.ts; jobset v0.12.0, read).
 */
export const orchestrators: readonly Orchestrator[] = [
  katib, // before those that make a trial's pods
  kubeflowPipelines, // before Argo Workflows, whose label its pods have, too
  argoWorkflows,
  tekton,
  airflow,
  gitlabRunner,
  jenkins,
  knative,
  spark,
  actionsRunner,
  kubeRay,
  kubeVirt,
  prow,
  buildkite,
  drone,
];

/** Returns the orchestrator that made a pod. */
export function orchestratorOf(pod: Pod): Orchestrator | undefined {
  return orchestrators.find(({ made }) => made(pod));
}

/** Reports whether an annotation with this value is one that keeps an orchestrator from stopping a sidecar. */
export function isExemption(annotation: string, value: string): boolean {
  return orchestrators.some(({ exemption }) => exemption?.value === value && annotation.startsWith(exemption.prefix));
}

/**
 * Returns what an ordinary container of a pod is to the orchestrator that made the pod. Returns undefined if none did, if
 * it says nothing about the container, or if the container is a sidecar that ebb knows, such as an injected one.
 */
export function roleIn(pod: Pod, container: Container, orchestrator = orchestratorOf(pod)): Role | undefined {
  if (isSidecar(container.name, container.image ?? undefined)) return undefined;
  const role = orchestrator?.roleIn(container, pod);
  if (role !== undefined || orchestrator?.hasOneApp !== true) return role;
  return pod.spec.containers.some((one) => orchestrator.roleIn(one, pod) === "app") ? "sidecar" : undefined;
}
