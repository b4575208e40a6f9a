import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import { shortened } from "../base/text.ts";
import { cannotStart, LONGEST } from "./init.ts";

/**
 * Returns why a Deployment of ebb's lacks replicas, by the API server, the scheduler or the kubelet, and what to do.
 * Undefined if none of them says it: then the replicas have started, and have a log.
 */
export function whyNotStarted({ status }: JsonObject, pods: readonly JsonObject[]): string | undefined {
  const refused = conditionOf(status, "ReplicaFailure", "True");
  if (refused !== undefined)
    return `its pods are refused: ${refused}; change that rule, or install into another namespace`;
  return pods.map(whyPodWaits).find((why) => why !== undefined);
}

function whyPodWaits({ metadata, status }: JsonObject): string | undefined {
  const { namespace, name } = objectOf(metadata);
  const unscheduled = conditionOf(status, "PodScheduled", "False");
  if (unscheduled !== undefined)
    return `its pod ${name} has no node: ${unscheduled}; add one, or correct the nodeSelector`;
  for (const container of listOf(objectOf(status).containerStatuses).map(objectOf)) {
    if (Number(container.restartCount ?? 0) > 0) return undefined;
    const why = cannotStart(container, "; correct --image (Helm: image, imagePullSecrets)");
    if (why !== undefined) return `its pod ${name} ${why}`;
    if (textOf(objectOf(objectOf(container.state).waiting).reason) === "ContainerCreating")
      return `its pod ${name} waits for its image or a volume: kubectl -n ${namespace} describe pod ${name}`;
  }
  return undefined;
}

/** Returns the message of a condition that has this status. */
function conditionOf(status: unknown, type: string, wanted: "True" | "False"): string | undefined {
  const conditions = listOf(objectOf(status).conditions).map(objectOf);
  const found = conditions.find((one) => one.type === type && one.status === wanted);
  return found && shortened(textOf(found.message) ?? String(found.reason), LONGEST);
}
