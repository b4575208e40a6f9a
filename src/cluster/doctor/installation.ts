import { type JsonObject, listOf, objectOf, textOf } from "../../shared/core/json.ts";
import { CONFIGURATIONS } from "../certificates/ca-bundle.ts";
import { OBJECTS, WEBHOOK } from "../core/installed.ts";
import type { Finding } from "./core/finding.ts";
import { howToInstall, type Registration, secretFinding, secretsOf } from "./core/installation.ts";
import type { Installed } from "./core/replicas.ts";
import { selects } from "./core/selection.ts";
import type { Reader } from "./read.ts";

/** Reads the Deployments of ebb, and their pods. Resolves with undefined if they may not be read. */
export async function readDeployments(reader: Reader): Promise<readonly Installed[] | undefined> {
  const deployments = await reader.all("/apis/apps/v1/deployments", { labelSelector: OBJECTS });
  if (deployments === undefined || deployments.length === 0) return deployments && [];
  const pods = await reader.all("/api/v1/pods", { labelSelector: OBJECTS });
  const isOf = (deployment: JsonObject, { metadata }: JsonObject): boolean => {
    const { namespace, labels } = objectOf(metadata);
    return namespace === objectOf(deployment.metadata).namespace && selects(objectOf(deployment.spec).selector, labels);
  };
  return deployments.map((deployment) => ({ deployment, pods: pods?.filter((pod) => isOf(deployment, pod)) }));
}

/**
 * Reads the registrations of ebb's webhook (MutatingWebhookConfigurations), whatever their names, with the Services
 * behind them, which select of the Deployments. Resolves with undefined if they may not be read.
 */
export async function readRegistrations(
  reader: Reader,
  deployments: readonly Installed[] | undefined,
): Promise<readonly Registration[] | undefined> {
  const own = (await reader.all(CONFIGURATIONS, {}))?.flatMap((each) => registrationIn(each) ?? []);
  return own && (await Promise.all(own.map((each) => readService(reader, each, deployments))));
}

interface Registered extends Pick<Registration, "name" | "again" | "isRequired" | "isTrusted" | "selectors"> {
  readonly service: { readonly namespace: string; readonly name: string };
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
    again: howToInstall("webhook", metadata),
    isRequired: own.some(({ failurePolicy }) => failurePolicy !== "Ignore"),
    isTrusted: configs.every(({ caBundle }) => (textOf(caBundle) ?? "") !== ""),
    selectors: own.map(({ namespaceSelector, objectSelector }) => ({ namespaceSelector, objectSelector })),
    service: { namespace, name },
  };
}

async function readService(
  reader: Reader,
  { service: { namespace, name }, ...registered }: Registered,
  deployments: readonly Installed[] | undefined,
): Promise<Registration> {
  const service = await reader.get(`/api/v1/namespaces/${namespace}/services/${name}`);
  const whole = { ...registered, service: `${namespace}/${name}` };
  if (service === "absent") return { ...whole, isServiceThere: false, deployments: [] };
  if (service === undefined) return { ...whole, isServiceThere: undefined, deployments: undefined };
  const matchLabels = objectOf(service.spec).selector;
  const behind = deployments?.filter(({ deployment: { metadata, spec } }) => {
    const { labels } = objectOf(objectOf(objectOf(spec).template).metadata);
    return objectOf(metadata).namespace === namespace && selects({ matchLabels }, labels);
  });
  return { ...whole, isServiceThere: true, deployments: behind };
}

/** Finds Secrets that do not exist, and without which a Deployment's next replica does not work. */
export async function missingSecrets(reader: Reader, deployments: readonly Installed[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const each of deployments) {
    const { namespace } = objectOf(each.deployment.metadata);
    for (const name of secretsOf(each)) {
      const secret = await reader.get(`/api/v1/namespaces/${namespace}/secrets/${name}`);
      if (secret === "absent") findings.push(secretFinding(each, name));
    }
  }
  return findings;
}
