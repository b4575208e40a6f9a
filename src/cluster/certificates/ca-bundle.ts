import type { Webhook, WebhookConfiguration } from "../api/core/objects.ts";
import { type Authority, isEbbAuthority, readAuthorities } from "./held.ts";

// The caBundle of the webhook configuration, with which the API server verifies the webhook's certificate.

/** The API path of all MutatingWebhookConfigurations. */
export const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** The Service of ebb's webhook: a webhook of the configuration is ebb's if it calls this one, or is called by URL. */
interface Service {
  readonly name: string;
  readonly namespace: string;
}

/** Returns the webhooks that call this Service or any URL, each with its index in `webhooks`. */
function ownWebhooks(
  { webhooks = [] }: WebhookConfiguration,
  { name, namespace }: Service,
): readonly (Webhook & { readonly index: number })[] {
  return webhooks
    .map((webhook, index) => ({ ...webhook, index }))
    .filter(({ clientConfig: { service: to } }) => !to || (to.name === name && to.namespace === namespace));
}

/** Reports whether this CA is in the caBundle of each webhook that calls `service` or any URL. */
export function trusts(configuration: WebhookConfiguration, service: Service, { id }: Authority): boolean {
  return ownWebhooks(configuration, service).every((webhook) => trusted(webhook).some((ca) => ca.id === id));
}

/** Returns the CAs in all caBundles of the configuration that ebb made, by their name. */
export function bundledAuthorities(configuration: WebhookConfiguration | undefined): readonly Authority[] {
  return (configuration?.webhooks ?? []).flatMap(trusted).filter(isEbbAuthority);
}

/**
 * Reports whether cert-manager's cainjector writes this configuration's caBundle, by an annotation
 * `cert-manager.io/inject-*` (cert-manager.io/docs/concepts/ca-injector).
 */
export function isFilledByOthers({ metadata: { annotations = {} } }: WebhookConfiguration): boolean {
  return Object.keys(annotations).some((name) => name.startsWith("cert-manager.io/inject-"));
}

function trusted({ clientConfig }: Webhook): readonly Authority[] {
  return readAuthorities(Buffer.from(clientConfig.caBundle ?? "", "base64").toString());
}

/**
 * Returns the JSON Patch that sets the caBundle of each webhook that calls `service` or any URL, and has another one; empty
 * if all have it. The API server refuses the patch (409) if `configuration` has changed since it was read.
 */
export function bundlePatch(
  configuration: WebhookConfiguration,
  service: Service,
  authorities: readonly Authority[],
): readonly object[] {
  const value = Buffer.from(authorities.map(({ cert }) => cert).join("")).toString("base64");
  const changes = ownWebhooks(configuration, service)
    .filter(({ clientConfig }) => clientConfig.caBundle !== value)
    .map(({ index }) => ({ op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value }));
  if (changes.length === 0) return [];
  const { resourceVersion } = configuration.metadata;
  return [{ op: "replace", path: "/metadata/resourceVersion", value: resourceVersion }, ...changes];
}
