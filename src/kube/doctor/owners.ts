import { type JsonObject, objectOf } from "../../core/base/json.ts";
import type { Finding } from "../../core/doctor/finding.ts";
import { lacksPods, REFUSALS, type Refused, refusalFinding, workloadFindings } from "../../core/doctor/owners.ts";
import type { Reader } from "./read.ts";

/**
 * Finds Jobs, ReplicaSets and other owners whose pods the webhook refused, and that still lack pods. Reads Events,
 * which Kubernetes keeps for one hour.
 */
export async function refusedOwners(reader: Reader, scopes: readonly string[]): Promise<readonly Finding[]> {
  const refused = new Map<string, Refused>();
  const found = (event: JsonObject): void => {
    const finding = refusalFinding(event);
    if (finding !== undefined) refused.set(finding.object, finding);
  };
  for (const scope of scopes) await reader.each(`/api/v1${scope}/events`, { fieldSelector: REFUSALS }, found);
  const findings: Finding[] = [];
  for (const { object, message, ...owner } of refused.values()) {
    if (await stillLacksPods(reader, owner)) findings.push({ object, message });
  }
  return findings;
}

/** The collections of kinds of owners; `%` stands for the namespace. */
const collections: Readonly<Record<string, string>> = {
  Job: "/apis/batch/v1/namespaces/%/jobs/",
  ReplicaSet: "/apis/apps/v1/namespaces/%/replicasets/",
  StatefulSet: "/apis/apps/v1/namespaces/%/statefulsets/",
  DaemonSet: "/apis/apps/v1/namespaces/%/daemonsets/",
};

/**
 * Reports whether an owner still lacks pods: Events outlive what they are about. An owner that cannot be read, or is of
 * another kind, counts as lacking them.
 */
async function stillLacksPods(reader: Reader, owner: Omit<Refused, keyof Finding>): Promise<boolean> {
  const { kind, namespace, name, uid } = owner;
  const collection = collections[kind]?.replace("%", namespace);
  const found = collection === undefined ? undefined : await reader.get(collection + name);
  if (found === undefined) return true;
  return found !== "absent" && objectOf(found.metadata).uid === uid && lacksPods(found);
}

const workloads: readonly (readonly [kind: string, group: string, collection: string])[] = [
  ["Job", "/apis/batch/v1", "jobs"],
  ["CronJob", "/apis/batch/v1", "cronjobs"],
  ["Deployment", "/apis/apps/v1", "deployments"],
  ["StatefulSet", "/apis/apps/v1", "statefulsets"],
  ["DaemonSet", "/apis/apps/v1", "daemonsets"],
];

/**
 * Finds annotations and labels on workloads that were meant for their pods. `labels` maps each namespace that has an
 * ebb.dev/inject label to its value.
 */
export async function examineWorkloads(
  reader: Reader,
  scopes: readonly string[],
  labels: ReadonlyMap<string, string>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const scope of scopes) {
    for (const [kind, group, collection] of workloads) {
      // the objects of a list do not say of which kind they are
      const found = (each: JsonObject): void => {
        const label = labels.get(String(objectOf(each.metadata).namespace));
        findings.push(...workloadFindings({ ...each, kind }, label));
      };
      await reader.each(`${group}${scope}/${collection}`, {}, found);
    }
  }
  return findings;
}
