import { shortened } from "../../../shared/core/text.ts";
import type { Conditions, Pod, PodSpec, Workload } from "../../api/core/objects.ts";
import { failureOf, LONGEST } from "./init.ts";

/** A Deployment of ebb's, with its pods; without them if they may not be read. */
export interface Installed {
  readonly deployment: Workload;
  readonly pods: readonly Pod[] | undefined;
}

/** The arguments of a pod's ordinary containers, in one list. */
export type ContainerArgs = readonly string[];

function argumentsOf({ containers }: PodSpec): ContainerArgs {
  return containers.flatMap(({ args = [] }) => args);
}

/** Returns the values of a flag, as `--flag=VALUE` or as two arguments. */
export function valuesOf(args: ContainerArgs, flag: string): readonly string[] {
  return args.flatMap((arg, index) => {
    if (arg === flag) return args[index + 1] ?? [];
    return arg.startsWith(`${flag}=`) ? arg.slice(flag.length + 1) : [];
  });
}

/** Returns the spec of the pods that a Deployment makes now. */
export function templateOf({ deployment }: Installed): PodSpec {
  return deployment.spec.template.spec;
}

/** Returns the arguments of the pods that a Deployment makes now. */
export function argumentsNow(installed: Installed): ContainerArgs {
  return argumentsOf(templateOf(installed));
}

/** Returns the specs of the replicas that are known to be ready. */
export function readySpecs({ pods = [] }: Installed): readonly PodSpec[] {
  return pods.filter((pod) => !isDeleted(pod) && isReady(pod)).map(({ spec }) => spec);
}

/** Returns the arguments of each replica that is known to be ready. */
export function readyArguments(installed: Installed): readonly ContainerArgs[] {
  return readySpecs(installed).map(argumentsOf);
}

function isDeleted({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isReady({ status }: Pod): boolean {
  return conditionIn(status, "Ready", "True") !== undefined;
}

/**
 * Returns why replicas of a Deployment are not ready, by the API server, the scheduler, the kubelet or their own exit,
 * and what to do. Undefined if none of them says it: then the replicas run, and have a log.
 */
export function whyReplicasNotReady({ deployment, pods = [] }: Installed): string | undefined {
  const refused = messageOf(deployment.status, "ReplicaFailure", "True");
  if (refused !== undefined)
    return `its pods are refused: ${refused}; change that rule, or install into another namespace`;
  const waiting = pods.filter((pod) => !isDeleted(pod) && !isReady(pod));
  return waiting.map(whyPodWaits).find((why) => why !== undefined);
}

function whyPodWaits({ metadata: { namespace, name }, spec, status }: Pod): string | undefined {
  const pod = `its pod ${name}`;
  const unscheduled = messageOf(status, "PodScheduled", "False");
  if (unscheduled !== undefined) return `${pod} has no node: ${unscheduled}; add one, or correct the nodeSelector`;
  for (const container of status?.containerStatuses ?? []) {
    const why = failureOf(container, "; correct --image (Helm: image, imagePullSecrets)");
    if (why !== undefined) return `${pod} (image ${imageIn(spec)}) ${why}`;
    if (container.state?.waiting?.reason === "ContainerCreating")
      return `${pod} waits for its image or a volume: kubectl -n ${namespace} describe pod ${name}`;
  }
  return undefined;
}

/** Returns the image of a pod's first container. */
export function imageIn({ containers: [first] }: PodSpec): string {
  return first?.image ?? "unknown";
}

/** Returns the message of a condition that has this status. */
function messageOf(status: Conditions | undefined, type: string, wanted: "True" | "False"): string | undefined {
  const found = conditionIn(status, type, wanted);
  return found && shortened(found.message || String(found.reason), LONGEST);
}

function conditionIn(status: Conditions | undefined, type: string, wanted: "True" | "False") {
  return status?.conditions?.find((one) => one.type === type && one.status === wanted);
}
