import type { Environment } from "../../core/base/environment.ts";
import { type JsonObject, listOf, objectOf } from "../../core/base/json.ts";
import type { DoctorSettings } from "../../core/cli/cluster/doctor-options.ts";
import {
  COMPONENTS,
  type Component,
  componentFinding,
  componentOf,
  formerFinding,
} from "../../core/doctor/components.ts";
import type { Finding } from "../../core/doctor/finding.ts";
import { registrationFindings, webhooksOf } from "../../core/doctor/registrations.ts";
import { DOCTOR_EXIT, EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import { writeOutput } from "../../system/output/output.ts";
import type { Signals } from "../../system/process/signals.ts";
import { isApiFailure } from "../api/api-error.ts";
import { connect } from "../api/client.ts";
import { stopsOf } from "../controller/stops.ts";
import { askLabels, examineNamespace, readNamespaces } from "./namespaces.ts";
import { examineWorkloads, refusedOwners } from "./owners.ts";
import { examinePods } from "./pods.ts";
import { createReader, type Reader, readRegistrations } from "./read.ts";
import { type Report, textOfReport } from "./report.ts";

interface Around {
  readonly env: Environment;
  readonly log: Log;
  readonly signals: Signals;
}

/**
 * Runs `ebb doctor`: reads the cluster without changing anything, and writes a report to stdout. Resolves with the exit
 * code: 0, or 1 if there are findings. What may not be read is told in the report.
 * @throws Failure 69 if the API server cannot be reached or a signal comes, 64 if a namespace that was named does not
 * exist
 */
export async function examineCluster(settings: DoctorSettings, { env, log, signals }: Around): Promise<number> {
  const { kubeconfig, context, namespace, json } = settings;
  const { first: signal } = stopsOf(signals);
  try {
    const reader = createReader(await connect({ env, kubeconfig, context }, log), signal);
    const all = await examineAll(reader, [...new Set(namespace.flat())]);
    const report = { ...all, refusals: reader.refusals };
    await writeOutput(json ? `${JSON.stringify(report, null, 2)}\n` : textOfReport(report));
    return all.findings.length > 0 ? DOCTOR_EXIT.found : EXIT.ok;
  } catch (error) {
    if (signal.aborted)
      throw new Failure(EXIT.unavailable, "stopped by a signal before the whole cluster was read; run it again");
    if (isApiFailure(error))
      throw new Failure(EXIT.unavailable, `cannot read from the API server: ${error.message}`, { cause: error });
    throw error;
  }
}

async function examineAll(reader: Reader, names: readonly string[]): Promise<Omit<Report, "refusals">> {
  const scopes = names.length === 0 ? [""] : names.map((name) => `/namespaces/${name}`);
  const registrations = await readRegistrations(reader);
  const webhooks = webhooksOf(registrations);
  const namespaces = await readNamespaces(reader, names);
  const labels = askLabels(namespaces);
  const inPods = await examinePods(reader, scopes, { labels, webhooks });
  const components = await readComponents(reader);
  const hasReaper = components === undefined || components.some(({ component }) => component === "reaper");
  return {
    ...inPods,
    components,
    findings: [
      ...(registrations ?? []).flatMap(registrationFindings),
      ...(components ?? []).flatMap((each) => componentFinding(each) ?? []),
      ...(await formerReplicas(reader, components ?? [])),
      ...(await leftBindings(reader)),
      ...namespaces.flatMap((each) => examineNamespace(each, { webhooks, hasReaper })),
      ...(await examineWorkloads(reader, scopes, labels)),
      ...(webhooks.count === 0 ? [] : await refusedOwners(reader, scopes)),
      ...inPods.findings,
    ],
  };
}

/** Reads what of ebb is installed; undefined if Deployments may not be read. */
async function readComponents(reader: Reader): Promise<readonly Component[] | undefined> {
  const components: Component[] = [];
  const found = (each: JsonObject) => void components.push(componentOf(each));
  const isRead = await reader.each("/apis/apps/v1/deployments", { labelSelector: COMPONENTS }, found);
  return isRead ? components : undefined;
}

/** Finds replicas of an installed webhook that still inject another image than its Deployment says. */
async function formerReplicas(reader: Reader, components: readonly Component[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const component of components.filter((each) => each.component === "webhook")) {
    const pods: JsonObject[] = [];
    const query = { labelSelector: `${COMPONENTS},app.kubernetes.io/component=webhook` };
    await reader.each(`/api/v1/namespaces/${component.namespace}/pods`, query, (pod) => pods.push(pod));
    const finding = formerFinding(component, pods);
    if (finding !== undefined) findings.push(finding);
  }
  return findings;
}

/** Finds ClusterRoleBindings of ebb whose ServiceAccount does not exist any more: it went with its namespace. */
async function leftBindings(reader: Reader): Promise<readonly Finding[]> {
  const bindings: JsonObject[] = [];
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  await reader.each(path, { labelSelector: COMPONENTS }, (each) => bindings.push(each));
  const findings: Finding[] = [];
  for (const { metadata, roleRef, subjects } of bindings) {
    const { namespace, name } = objectOf(listOf(subjects)[0]);
    if (namespace === undefined || name === undefined) continue; // somebody's own: ebb's have one subject
    const account = await reader.get(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}`);
    if (account !== "absent") continue;
    const own = String(objectOf(metadata).name);
    const command = `kubectl delete clusterrolebinding/${own} clusterrole/${objectOf(roleRef).name}`;
    const message = `its ServiceAccount ${namespace}/${name} does not exist, so it is left over: ${command}`;
    findings.push({ object: `ClusterRoleBinding ${own}`, message });
  }
  return findings;
}
