import { EXIT, Failure } from "../../shared/core/exit.ts";
import type { KubeEvent, KubeObject, Pod, Texts, Workload } from "../api/core/objects.ts";
import { NAME_LABEL } from "../core/installed.ts";
import { presenceOf } from "../inject/core/presence.ts";
import type { Finding } from "./core/finding.ts";
import { initFinding } from "./core/init.ts";
import type { Webhooks } from "./core/installation.ts";
import { podFinding, unwrappedFindings } from "./core/pods.ts";
import { lacksPods, REFUSALS, type RefusedOwner, refusalFinding, refusedContainer, wantsEbb } from "./core/refusals.ts";
import type { Reader } from "./read.ts";

// In all functions here `scopes` are parts of paths: `/namespaces/NAME`, or an empty one for the whole cluster.

/** The labels of each namespace that could be read, by its name. */
type Labels = ReadonlyMap<string, Texts>;

/**
 * Reads the labels of the named namespaces, or of all if none is named. One that may not be read is left out.
 * @throws Failure 64 if one that was named does not exist
 */
export async function readLabels(reader: Reader, names: readonly string[]): Promise<Labels> {
  const found = new Map<string, Texts>();
  const keep = ({ metadata: { name, labels = {} } }: KubeObject) => void found.set(name, labels);
  if (names.length === 0) await reader.each("/api/v1/namespaces", {}, keep);
  for (const name of names) {
    const namespace = await reader.get(`/api/v1/namespaces/${name}`);
    if (namespace === "absent")
      throw new Failure(EXIT.usage, `--namespace: there is no namespace "${name}"; kubectl get namespaces lists them`);
    if (namespace !== undefined) keep(namespace);
  }
  return found;
}

/** What is known of the cluster. */
interface ClusterState {
  readonly labels: Labels;
  readonly webhooks: Webhooks;
}

/**
 * Counts the pods that run, and those with ebb in them, without ebb's own. Finds pods that asked for ebb and have none,
 * or an older one, or that ebb's init container keeps from starting; once for each owner. The numbers are undefined if no
 * pod may be read.
 */
export async function examinePods(reader: Reader, scopes: readonly string[], { labels, webhooks }: ClusterState) {
  const findings: Finding[] = [];
  const isFirst = oncePerOwner();
  let pods = 0;
  let injected = 0;
  let mayRead = false;
  for (const scope of scopes) {
    const isRead = await reader.each<Pod>(
      `/api/v1${scope}/pods`,
      { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" },
      (pod) => {
        const { namespace, labels: own, deletionTimestamp } = pod.metadata;
        if (deletionTimestamp !== undefined || own?.[NAME_LABEL] === "ebb") return;
        pods += 1;
        if (presenceOf(pod).kind === "present") injected += 1;
        const all = [podFinding(pod, labels.get(namespace), webhooks) ?? [], unwrappedFindings(pod)].flat();
        findings.push(...all.filter((each) => isFirst(pod, each)));
        const init = initFinding(pod);
        // once, because the kubelet's words change while it tries again
        if (init !== undefined && isFirst(pod, { ...init, message: "" })) findings.push(init);
      },
    );
    mayRead ||= isRead;
  }
  return mayRead ? { findings, pods, injected } : { findings, pods: undefined, injected: undefined };
}

/**
 * Returns a function that reports whether a pod is the first of its owner with this finding: those of a Deployment are
 * alike.
 */
function oncePerOwner(): (pod: Pod, finding: Finding) => boolean {
  const seen = new Set<string>();
  return ({ metadata }, { object, message }) => {
    const owner = metadata.ownerReferences?.[0]?.uid ?? object;
    return seen.size < seen.add(`${owner} ${message}`).size;
  };
}

/**
 * Finds Jobs, ReplicaSets and other owners whose pods were refused, by the webhook or with ebb in them, and that still
 * lack pods. Reads Events, which Kubernetes keeps for one hour.
 */
export async function refusedOwners(
  reader: Reader,
  scopes: readonly string[],
  cluster: ClusterState,
): Promise<readonly Finding[]> {
  const refused = new Map<string, RefusedOwner>();
  const found = (event: KubeEvent): void => {
    const finding = refusalFinding(event);
    if (finding !== undefined) refused.set(finding.object, finding);
  };
  for (const scope of scopes) await reader.each(`/api/v1${scope}/events`, { fieldSelector: REFUSALS }, found);
  const findings: Finding[] = [];
  for (const { object, message, ...owner } of refused.values()) {
    const found = await readOwner(reader, owner);
    if (!stillLacksPods(found, owner, cluster)) continue;
    const which = typeof found === "object" ? refusedContainer(message, found) : "";
    findings.push({ object, message: `${message}${which}` });
  }
  return findings;
}

type Owner = Omit<RefusedOwner, keyof Finding>;
/** "absent" if it does not exist; undefined if it cannot be read, or is of another kind. */
type FoundOwner = Workload | "absent" | undefined;

/** The kinds of owners that create pods. */
const owners = ["Job", "ReplicaSet", "StatefulSet", "DaemonSet"];

async function readOwner(reader: Reader, { kind, namespace, name }: Owner): Promise<FoundOwner> {
  const group = kind === "Job" ? "batch" : "apps";
  const path = `/apis/${group}/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
  return owners.includes(kind) ? await reader.get(path) : undefined;
}

/**
 * Reports whether an owner still lacks pods, with ebb: Events outlive what they are about. One that is undefined counts
 * as lacking them, unless nothing shows that its pods are to have ebb.
 */
function stillLacksPods(found: FoundOwner, { namespace, uid, by }: Owner, { labels, webhooks }: ClusterState): boolean {
  if (found === undefined) return by !== "rule";
  if (found === "absent" || found.metadata.uid !== uid || !lacksPods(found)) return false;
  return by !== "rule" || wantsEbb(found, labels.get(namespace), webhooks.selections);
}
