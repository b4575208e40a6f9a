import { type JsonObject, listOf, objectOf, textOf } from "../../core/base/json.ts";
import type { Finding } from "../../core/doctor/finding.ts";
import { annotationFindings, podFinding } from "../../core/doctor/pods.ts";
import { presenceOf } from "../../core/doctor/presence.ts";
import type { Webhooks } from "../../core/doctor/registrations.ts";
import type { Reader } from "./read.ts";

/** What is known of the cluster. `labels`: the value of ebb.dev/inject by namespace, if it has the label. */
interface Known {
  readonly labels: ReadonlyMap<string, string>;
  readonly webhooks: Webhooks;
}

/**
 * Counts the pods that run, and those with ebb in them. Finds pods that asked for ebb and have none, or an older one;
 * once for each owner. `scopes`: parts of paths, such as `/namespaces/NAME`; an empty one stands for the whole cluster.
 */
export async function examinePods(reader: Reader, scopes: readonly string[], { labels, webhooks }: Known) {
  const findings: Finding[] = [];
  const isFirst = oncePerOwner();
  let pods = 0;
  let injected = 0;
  for (const scope of scopes) {
    await reader.each(
      `/api/v1${scope}/pods`,
      { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" },
      (pod) => {
        const { namespace, deletionTimestamp } = objectOf(pod.metadata);
        if (deletionTimestamp !== undefined) return;
        pods += 1;
        if (presenceOf(pod).kind === "present") injected += 1;
        const label = labels.get(String(namespace));
        const finding = podFinding(pod, label, webhooks);
        const others = annotationFindings(pod, label);
        for (const each of finding === undefined ? others : [finding, ...others]) {
          if (isFirst(pod, each)) findings.push(each);
        }
      },
    );
  }
  return { findings, pods, injected };
}

/**
 * Returns a function that reports whether a pod is the first of its owner with this finding: those of a Deployment are
 * alike.
 */
function oncePerOwner(): (pod: JsonObject, finding: Finding) => boolean {
  const told = new Set<string>();
  return ({ metadata }, { object, message }) => {
    const owner = textOf(objectOf(listOf(objectOf(metadata).ownerReferences)[0]).uid) ?? object;
    return told.size < told.add(`${owner} ${message}`).size;
  };
}
