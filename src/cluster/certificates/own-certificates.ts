import type { ApiClient } from "../api/client.ts";

/** How ebb keeps a CA of its own: where, and for which names it signs. */
export interface OwnCertificates {
  readonly api: ApiClient;
  readonly namespace: string;
  /** The name of the webhook's Service and of its MutatingWebhookConfiguration. */
  readonly name: string;
  /** Host names and IP addresses that a certificate is for beside the Service's. */
  readonly names?: readonly string[] | undefined;
}
