import type { ApiClient, KubeObject } from "../api/client.ts";
import { type Authority, isEbbAuthority, readAuthorities } from "./held.ts";

// The webhook configuration's caBundle: by it the API server knows that a webhook is the one that was meant.

export const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

export interface Webhook {
  readonly name: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly service?: { readonly name: string; readonly namespace: string };
    readonly url?: string;
  };
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

/** Where the webhooks that are ours point to; by url: any. */
export interface Service {
  readonly service: string;
  readonly namespace: string;
}

/** Returns the webhooks that call this Service, or any URL, each with its index in `webhooks`. */
export function ownWebhooks(
  { webhooks = [] }: WebhookConfiguration,
  { service, namespace }: Service,
): readonly (Webhook & { readonly index: number })[] {
  return webhooks
    .map((webhook, index) => ({ ...webhook, index }))
    .filter(({ clientConfig: { service: to } }) => !to || (to.name === service && to.namespace === namespace));
}

/** Whether each of our webhooks is trusted by this CA. */
export function trusts(configuration: WebhookConfiguration, place: Service, { id }: Authority): boolean {
  return ownWebhooks(configuration, place).every((webhook) => trusted(webhook).some((ca) => ca.id === id));
}

/** Returns the CAs of ebb's own that the configuration trusts. */
export function ownAuthorities(configuration: WebhookConfiguration | undefined): readonly Authority[] {
  return (configuration?.webhooks ?? []).flatMap(trusted).filter(isEbbAuthority);
}

/** cert-manager's cainjector writes this configuration's caBundle (cert-manager.io/docs/concepts/ca-injector). */
export function isFilledByOthers({ metadata: { annotations = {} } }: WebhookConfiguration): boolean {
  return Object.keys(annotations).some((name) => name.startsWith("cert-manager.io/inject-"));
}

function trusted({ clientConfig }: Webhook): readonly Authority[] {
  return readAuthorities(Buffer.from(clientConfig.caBundle ?? "", "base64").toString());
}

/** Writes the bundle where it is another; undefined: nowhere. @throws ApiError, a Conflict when somebody wrote in between */
export async function writeBundle(
  api: ApiClient,
  configuration: WebhookConfiguration,
  { place, authorities, signal }: { place: Service; authorities: readonly Authority[]; signal: AbortSignal },
): Promise<WebhookConfiguration | undefined> {
  const bundle = Buffer.from(authorities.map(({ cert }) => cert).join("")).toString("base64");
  const others = ownWebhooks(configuration, place).filter(({ clientConfig }) => clientConfig.caBundle !== bundle);
  if (others.length === 0) return undefined;
  const { name, resourceVersion } = configuration.metadata;
  const operations = [
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion }, // a Conflict, if it is another
    ...others.map(({ index }) => ({ op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: bundle })),
  ];
  return await api.patch<WebhookConfiguration>(`${CONFIGURATIONS}/${name}`, operations, { signal, retries: 0 });
}
