import { type JsonObject, listOf, objectOf, textOf } from "../../core/base/json.ts";
import { COMPONENT_LABEL, OBJECTS, WEBHOOK } from "../../core/cluster/installed.ts";
import type { Finding } from "../../core/doctor/finding.ts";
import {
  type Component,
  componentOf,
  formerFinding,
  type Registration,
  scheduledOf,
} from "../../core/doctor/installation.ts";
import { whyNotStarted } from "../../core/doctor/replicas.ts";
import { CONFIGURATIONS } from "../certificates/ca-bundle.ts";
import type { Reader } from "./read.ts";

/**
 * Reads the registrations of ebb's webhook (MutatingWebhookConfigurations), whatever their names, with the Services and
 * Deployments behind them. Resolves with undefined if they may not be read.
 */
export async function readRegistrations(reader: Reader): Promise<readonly Registration[] | undefined> {
  const own = (await reader.all(CONFIGURATIONS, {}))?.flatMap((each) => registrationIn(each) ?? []);
  return own && (await Promise.all(own.map((each) => readService(reader, each))));
}

interface Registered extends Pick<Registration, "name" | "isRequired" | "isTrusted" | "selectors"> {
  readonly place: { readonly namespace: string; readonly name: string };
}

function registrationIn({ metadata, webhooks }: JsonObject): Registered | undefined {
  const own = listOf(webhooks)
    .map(objectOf)
    .filter(({ name }) => `.${textOf(name)}`.endsWith(`.${WEBHOOK}`));
  const configs = own.map(({ clientConfig }) => objectOf(clientConfig));
  const { namespace, name } = objectOf(configs[0]?.service);
  if (typeof namespace !== "string" || typeof name !== "string") return undefined;
  return {
    name: String(objectOf(metadata).name),
    isRequired: own.some(({ failurePolicy }) => failurePolicy !== "Ignore"),
    isTrusted: configs.every(({ caBundle }) => (textOf(caBundle) ?? "") !== ""),
    selectors: own.map(({ namespaceSelector, objectSelector }) => ({ namespaceSelector, objectSelector })),
    place: { namespace, name },
  };
}

async function readService(reader: Reader, { place, ...registered }: Registered): Promise<Registration> {
  const { namespace, name } = place;
  const service = await reader.get(`/api/v1/namespaces/${namespace}/services/${name}`);
  const whole = { ...registered, service: `${namespace}/${name}` };
  if (service === "absent") return { ...whole, isServiceThere: false, deployments: [] };
  if (service === undefined) return { ...whole, isServiceThere: undefined, deployments: undefined };
  const query = withLabels(objectOf(service.spec).selector);
  const deployments = await reader.all(`/apis/apps/v1/namespaces/${namespace}/deployments`, query);
  return { ...whole, isServiceThere: true, deployments };
}

function withLabels(labels: unknown): { readonly labelSelector: string } {
  const all = Object.entries(objectOf(labels)).map(([label, value]) => `${label}=${value}`);
  return { labelSelector: all.join(",") };
}

/** Reads what of ebb is installed; undefined if Deployments or CronJobs may not be read. */
export async function readComponents(reader: Reader): Promise<readonly Component[] | undefined> {
  const deployments = await reader.all("/apis/apps/v1/deployments", { labelSelector: OBJECTS });
  const cronJobs = await reader.all("/apis/batch/v1/cronjobs", { labelSelector: OBJECTS });
  if (deployments === undefined || cronJobs === undefined) return undefined;
  const running = await Promise.all(deployments.map((each) => readReplicas(reader, each)));
  return [...running, ...cronJobs.map(scheduledOf)];
}

/** Reads the pods of a Deployment if it lacks replicas, because they may say why. */
async function readReplicas(reader: Reader, deployment: JsonObject): Promise<Component> {
  const component = componentOf(deployment);
  if (component.ready >= component.replicas) return component;
  const query = withLabels(objectOf(objectOf(deployment.spec).selector).matchLabels);
  const pods = await reader.all(`/api/v1/namespaces/${component.namespace}/pods`, query);
  return { ...component, why: whyNotStarted(deployment, pods ?? []) };
}

/** Finds replicas of an installed webhook that still inject another image than its Deployment says. */
export async function formerReplicas(reader: Reader, components: readonly Component[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const component of components.filter((each) => each.component === "webhook")) {
    const query = { labelSelector: `${OBJECTS},${COMPONENT_LABEL}=webhook` };
    const pods = await reader.all(`/api/v1/namespaces/${component.namespace}/pods`, query);
    const finding = formerFinding(component, pods ?? []);
    if (finding !== undefined) findings.push(finding);
  }
  return findings;
}

/** Finds ClusterRoleBindings of ebb whose ServiceAccount does not exist any more: it went with its namespace. */
export async function leftBindings(reader: Reader): Promise<readonly Finding[]> {
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  const bindings = await reader.all(path, { labelSelector: OBJECTS });
  const findings: Finding[] = [];
  for (const { metadata, roleRef, subjects } of bindings ?? []) {
    const { namespace, name } = objectOf(listOf(subjects)[0]);
    if (namespace === undefined || name === undefined) continue; // a user's own: a binding of ebb's has one subject
    const account = await reader.get(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}`);
    if (account !== "absent") continue;
    const own = String(objectOf(metadata).name);
    const command = `kubectl delete clusterrolebinding/${own} clusterrole/${objectOf(roleRef).name}`;
    const message = `its ServiceAccount ${namespace}/${name} does not exist, so it is left over: ${command}`;
    findings.push({ object: `ClusterRoleBinding ${own}`, message });
  }
  return findings;
}
