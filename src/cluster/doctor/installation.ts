import type { Pod, Service, WebhookConfiguration, Workload } from "../api/core/objects.ts";
import { CONFIGURATIONS } from "../certificates/ca-bundle.ts";
import { OBJECTS, WEBHOOK } from "../core/installed.ts";
import type { Finding } from "./core/finding.ts";
import { howToInstall, type Registration, secretFinding, secretsOf } from "./core/installation.ts";
import type { Installed } from "./core/replicas.ts";
import { selects } from "./core/selection.ts";
import type { Reader } from "./read.ts";

/** Reads the Deployments of ebb, and their pods. Resolves with undefined if they may not be read. */
export async function readDeployments(reader: Reader): Promise<readonly Installed[] | undefined> {
  const deployments = await reader.all<Workload>("/apis/apps/v1/deployments", { labelSelector: OBJECTS });
  if (deployments === undefined || deployments.length === 0) return deployments && [];
  const pods = await reader.all<Pod>("/api/v1/pods", { labelSelector: OBJECTS });
  const isOf = ({ metadata, spec }: Workload, { metadata: { namespace, labels } }: Pod): boolean =>
    namespace === metadata.namespace && selects(spec.selector, labels);
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
  const own = (await reader.all<WebhookConfiguration>(CONFIGURATIONS, {}))?.flatMap(
    (each) => registrationIn(each) ?? [],
  );
  return own && (await Promise.all(own.map((each) => readService(reader, each, deployments))));
}

interface Registered extends Pick<Registration, "name" | "again" | "isRequired" | "isTrusted" | "selectors"> {
  readonly service: { readonly namespace: string; readonly name: string };
}

function registrationIn({ metadata, webhooks = [] }: WebhookConfiguration): Registered | undefined {
  const own = webhooks.filter(({ name }) => `.${name}`.endsWith(`.${WEBHOOK}`));
  const service = own[0]?.clientConfig.service;
  if (service === undefined) return undefined;
  return {
    name: metadata.name,
    again: howToInstall("webhook", metadata),
    isRequired: own.some(({ failurePolicy }) => failurePolicy !== "Ignore"),
    isTrusted: own.every(({ clientConfig }) => clientConfig.caBundle),
    selectors: own,
    service,
  };
}

async function readService(
  reader: Reader,
  { service: { namespace, name }, ...registered }: Registered,
  deployments: readonly Installed[] | undefined,
): Promise<Registration> {
  const service = await reader.get<Service>(`/api/v1/namespaces/${namespace}/services/${name}`);
  const whole = { ...registered, service: `${namespace}/${name}` };
  if (service === "absent") return { ...whole, isServiceThere: false, deployments: [] };
  if (service === undefined) return { ...whole, isServiceThere: undefined, deployments: undefined };
  const { selector: matchLabels = {} } = service.spec;
  const behind = deployments?.filter(({ deployment: { metadata, spec } }) => {
    return metadata.namespace === namespace && selects({ matchLabels }, spec.template.metadata?.labels);
  });
  return { ...whole, isServiceThere: true, deployments: behind };
}

/** Finds Secrets that do not exist, and without which a Deployment's next replica does not work. */
export async function missingSecrets(reader: Reader, deployments: readonly Installed[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const each of deployments) {
    const { namespace } = each.deployment.metadata;
    for (const name of secretsOf(each)) {
      const secret = await reader.get(`/api/v1/namespaces/${namespace}/secrets/${name}`);
      if (secret === "absent") findings.push(secretFinding(each, name));
    }
  }
  return findings;
}
