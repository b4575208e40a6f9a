import type { Environment } from "../../core/base/environment.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../../core/base/json.ts";
import { oneLine } from "../../core/base/text.ts";
import { counted } from "../../core/base/wording.ts";
import type { DoctorSettings } from "../../core/cli/cluster/doctor-options.ts";
import {
  COMPONENTS,
  type Component,
  componentFinding,
  componentOf,
  describeComponent,
} from "../../core/doctor/components.ts";
import {
  annotationFindings,
  type Finding,
  lacksPods,
  namespaceFinding,
  podFinding,
  REFUSALS,
  type Refused,
  reapLabelFinding,
  refusalFinding,
  registrationFindings,
  type Webhooks,
  webhooksOf,
} from "../../core/doctor/findings.ts";
import { presenceOf } from "../../core/doctor/presence.ts";
import { ASK } from "../../core/inject/marks.ts";
import { REAP } from "../../core/reap/policy.ts";
import { DOCTOR_EXIT, EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import { writeOutput } from "../../system/output/output.ts";
import type { Signals } from "../../system/process/signals.ts";
import { isTrouble } from "../api/api-error.ts";
import { connect } from "../api/client.ts";
import { stopsOf } from "../controller/stops.ts";
import { createReader, type Reader, readRegistrations } from "./read.ts";

interface Around {
  readonly env: Environment;
  readonly log: Log;
  readonly signals: Signals;
}

/** Reads, and changes nothing. Resolves to the exit code. @throws Failure 69 where there is no API server */
export async function examine(settings: DoctorSettings, { env, log, signals }: Around): Promise<number> {
  const { kubeconfig, context, namespace, json } = settings;
  const { first: signal } = stopsOf(signals);
  try {
    const reader = createReader(await connect({ env, kubeconfig, context }, log), signal);
    const all = await examineAll(reader, [...new Set(namespace.flat())]);
    const report = { ...all, refusals: reader.refusals };
    await writeOutput(json ? `${JSON.stringify(report, null, 2)}\n` : textOfReport(report));
    return all.findings.length > 0 ? DOCTOR_EXIT.found : EXIT.ok;
  } catch (error) {
    if (signal.aborted) throw new Failure(EXIT.unavailable, "told to stop before all was read");
    if (isTrouble(error)) throw new Failure(EXIT.unavailable, error.message, { cause: error });
    throw error;
  }
}

interface Report {
  /** What is installed; undefined: it may not be read. */
  readonly components: readonly Component[] | undefined;
  readonly findings: readonly Finding[];
  /** How many were looked at, and how many of these have ebb. */
  readonly pods: number;
  readonly injected: number;
  readonly refusals: readonly string[];
}

async function examineAll(reader: Reader, namespaces: readonly string[]): Promise<Omit<Report, "refusals">> {
  const registrations = await readRegistrations(reader);
  const webhooks = webhooksOf(registrations);
  const labels = await readLabels(reader, namespaces);
  const inPods = await examinePods(reader, namespaces, { labels, webhooks });
  const ofLabels = [...labels].flatMap(([name, label]) => namespaceFinding(name, label, webhooks) ?? []);
  const ofRegistrations = (registrations ?? []).flatMap(registrationFindings);
  const components = await readComponents(reader);
  const hasReaper = components === undefined || components.some(({ component }) => component === "reaper");
  const ofReap = await examineReapLabels(reader, namespaces, hasReaper);
  const ofComponents = (components ?? []).flatMap((each) => componentFinding(each) ?? []);
  return {
    ...inPods,
    components,
    findings: [
      ...ofRegistrations,
      ...ofComponents,
      ...(await leftBindings(reader)),
      ...ofLabels,
      ...ofReap,
      ...(webhooks.count === 0 ? [] : await refusedOwners(reader, namespaces)),
      ...inPods.findings,
    ],
  };
}

/** undefined: they may not be read. */
async function readComponents(reader: Reader): Promise<readonly Component[] | undefined> {
  const components: Component[] = [];
  const found = (each: JsonObject) => void components.push(componentOf(each));
  const isRead = await reader.each("/apis/apps/v1/deployments", { labelSelector: COMPONENTS }, found);
  return isRead ? components : undefined;
}

/** Jobs, ReplicaSets and others, of whose pods the webhook refused one not long ago: Kubernetes keeps Events for an hour. */
async function refusedOwners(reader: Reader, namespaces: readonly string[]): Promise<readonly Finding[]> {
  const refused = new Map<string, Refused>();
  const found = (event: JsonObject): void => {
    const finding = refusalFinding(event);
    if (finding !== undefined) refused.set(finding.object, finding);
  };
  const scopes = namespaces.length === 0 ? [""] : namespaces.map((name) => `/namespaces/${name}`);
  for (const scope of scopes) await reader.each(`/api/v1${scope}/events`, { fieldSelector: REFUSALS }, found);
  const findings: Finding[] = [];
  for (const { object, message, ...owner } of refused.values()) {
    if (await stillLacksPods(reader, owner)) findings.push({ object, message });
  }
  return findings;
}

const collections: Readonly<Record<string, string>> = {
  Job: "/apis/batch/v1/namespaces/%/jobs/",
  ReplicaSet: "/apis/apps/v1/namespaces/%/replicasets/",
  StatefulSet: "/apis/apps/v1/namespaces/%/statefulsets/",
  DaemonSet: "/apis/apps/v1/namespaces/%/daemonsets/",
};

/** Events outlive what they are about. What cannot be read, or is of another kind, may still lack them. */
async function stillLacksPods(reader: Reader, owner: Omit<Refused, keyof Finding>): Promise<boolean> {
  const { kind, namespace, name, uid } = owner;
  const collection = collections[kind]?.replace("%", namespace);
  const found = collection === undefined ? undefined : await reader.get(collection + name);
  if (found === undefined) return true;
  return found !== "absent" && objectOf(found.metadata).uid === uid && lacksPods(found);
}

interface Known {
  readonly labels: ReadonlyMap<string, string>;
  readonly webhooks: Webhooks;
}

async function examinePods(reader: Reader, namespaces: readonly string[], { labels, webhooks }: Known) {
  const findings: Finding[] = [];
  const isFirst = oncePerOwner();
  let pods = 0;
  let injected = 0;
  const paths =
    namespaces.length === 0 ? ["/api/v1/pods"] : namespaces.map((name) => `/api/v1/namespaces/${name}/pods`);
  for (const path of paths) {
    await reader.each(path, { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" }, (pod) => {
      const { namespace, deletionTimestamp } = objectOf(pod.metadata);
      if (deletionTimestamp !== undefined) return;
      pods += 1;
      if (presenceOf(pod).kind === "present") injected += 1;
      const label = labels.get(String(namespace));
      const finding = podFinding(pod, label, webhooks);
      if (finding !== undefined) findings.push(finding);
      for (const each of annotationFindings(pod, label)) if (isFirst(pod, each)) findings.push(each);
    });
  }
  return { findings, pods, injected };
}

/** Whether it is the first pod of its owner with this finding: those of a Deployment have the same annotations. */
function oncePerOwner(): (pod: JsonObject, finding: Finding) => boolean {
  const told = new Set<string>();
  return ({ metadata }, { object, message }) => {
    const owner = textOf(objectOf(listOf(objectOf(metadata).ownerReferences)[0]).uid) ?? object;
    return told.size < told.add(`${owner} ${message}`).size;
  };
}

/** The label of each namespace that has it. @throws Failure 64 where one that was named does not exist */
async function readLabels(reader: Reader, namespaces: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const labels = new Map<string, string>();
  const put = ({ metadata }: JsonObject): void => {
    const { name, labels: all } = objectOf(metadata);
    const label = textOf(objectOf(all)[ASK]);
    if (label !== undefined) labels.set(String(name), label);
  };
  if (namespaces.length === 0) await reader.each("/api/v1/namespaces", { labelSelector: ASK }, put);
  for (const name of namespaces) {
    const namespace = await reader.get(`/api/v1/namespaces/${name}`);
    if (namespace === "absent")
      throw new Failure(EXIT.usage, `--namespace: there is no namespace "${name}"; kubectl get namespaces lists them`);
    if (namespace !== undefined) put(namespace);
  }
  return labels;
}

async function examineReapLabels(
  reader: Reader,
  namespaces: readonly string[],
  hasReaper: boolean,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  await reader.each("/api/v1/namespaces", { labelSelector: REAP }, ({ metadata }) => {
    const { name, labels } = objectOf(metadata);
    if (namespaces.length > 0 && !namespaces.includes(String(name))) return;
    const finding = reapLabelFinding(String(name), String(objectOf(labels)[REAP]), hasReaper);
    if (finding !== undefined) findings.push(finding);
  });
  return findings;
}

/** Rights in the whole cluster whose account went with its namespace. */
async function leftBindings(reader: Reader): Promise<readonly Finding[]> {
  const bindings: JsonObject[] = [];
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  await reader.each(path, { labelSelector: "app.kubernetes.io/name=ebb" }, (each) => bindings.push(each));
  const findings: Finding[] = [];
  for (const { metadata, roleRef, subjects } of bindings) {
    const { namespace, name } = objectOf(listOf(subjects)[0]);
    const account = await reader.get(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}`);
    if (account !== "absent") continue;
    const own = String(objectOf(metadata).name);
    const command = `kubectl delete clusterrolebinding/${own} clusterrole/${objectOf(roleRef).name}`;
    const message = `its ServiceAccount ${namespace}/${name} does not exist, so it is left over: ${command}`;
    findings.push({ object: `ClusterRoleBinding ${own}`, message });
  }
  return findings;
}

const MOST_LINES = 100;

function textOfReport({ components, findings, pods, injected, refusals }: Report): string {
  const missing = ["webhook", "reaper"].filter((name) => !components?.some(({ component }) => component === name));
  const installed = [...(components ?? []).map(describeComponent), ...missing.map((name) => `${name}: not installed`)];
  const told = findings.slice(0, MOST_LINES).map(({ object, message }) => `${object}: ${message}`);
  const rest = findings.length - told.length;
  const lines = [...(components === undefined ? [] : installed), ...told];
  if (rest > 0) lines.push(`and ${rest} more: --json lists all`);
  lines.push(...refusals.map((refusal) => `not looked at: ${refusal}`));
  lines.push(`${counted(pods, "pod")}, ${injected} with ebb: ${counted(findings.length, "finding")}`);
  return lines.map((line) => `${oneLine(line)}\n`).join("");
}
