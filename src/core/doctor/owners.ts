import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import { podsIn } from "../inject/workload.ts";
import type { Finding } from "./finding.ts";
import { annotationFindings } from "./pods.ts";

/** The Events of owners that could not create a pod. */
export const REFUSALS = "reason=FailedCreate";
const REFUSED = "ebb cannot be put into this pod: ";

/** Whose pods the webhook refused. */
export interface Refused extends Finding {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Makes a finding of an Event in which the webhook refused a pod; undefined for any other Event. */
export function refusalFinding({ involvedObject, message }: JsonObject): Refused | undefined {
  const { kind, namespace, name, uid } = objectOf(involvedObject);
  const said = textOf(message) ?? "";
  const at = said.indexOf(REFUSED);
  if (at < 0) return undefined;
  const object = `${kind} ${namespace}/${name}`;
  const told = `the webhook refuses its pods: ${said.slice(at + REFUSED.length)}`;
  const owner = { kind: String(kind), namespace: String(namespace), name: String(name), uid: String(uid) };
  return { ...owner, object, message: told };
}

/** Whether an owner still waits for pods: not a Job that is over, nor what has all of its pods. */
export function lacksPods(owner: JsonObject): boolean {
  const { spec, status } = owner;
  const { active, succeeded, replicas, currentNumberScheduled, desiredNumberScheduled } = objectOf(status);
  if (isOver(owner) || Number(active ?? 0) + Number(succeeded ?? 0) > 0) return false;
  if (desiredNumberScheduled !== undefined) return Number(currentNumberScheduled ?? 0) < Number(desiredNumberScheduled);
  return Number(replicas ?? 0) < Number(objectOf(spec).replicas ?? 1);
}

function isOver({ status }: JsonObject): boolean {
  return listOf(objectOf(status).conditions).some((each) => /^(Complete|Failed)$/.test(String(objectOf(each).type)));
}

/**
 * Finds annotations and labels on a workload that were meant for its pods. A CronJob's Jobs are not looked at themselves; the
 * CronJob's template is.
 */
export function workloadFindings(workload: JsonObject, label: string | undefined): readonly Finding[] {
  const { ownerReferences } = objectOf(workload.metadata);
  if (listOf(ownerReferences).length > 0 || isOver(workload)) return [];
  return podsIn(workload).flatMap(({ object, pod, warnings }) => [
    ...warnings.map(({ field, message }) => ({ object, message: `${field}: ${message}` })),
    ...(workload.kind === "CronJob" ? annotationFindings(pod, label).map(({ message }) => ({ object, message })) : []),
  ]);
}
