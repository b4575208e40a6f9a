import type { Namespace } from "../cluster.ts";
import { type Installation, startNamedInstallation } from "../webhook/installation.ts";
import { injected, startIstio } from "./istio.ts";

/**
 * The prefixes of names by which the API server asks ebb's webhook before or after Istio's: it goes by the
 * registrations' names. If ebb's comes first it is asked once more, because Istio's changes the pod; Istio's own asks
 * for no second time.
 */
const orders = { "before Istio's": "a-", "after Istio's": "z-" } as const;

export type Order = keyof typeof orders;

/** Istio beside two webhooks of ebb's, each for namespaces of its own; `await using` it. */
export interface Webhooks extends AsyncDisposable {
  /** Creates a namespace whose pods are changed by Istio and, in that order, by ebb. */
  namespace(order: Order): Promise<Namespace>;
  installation(order: Order): Installation;
}

/** Installs Istio and both webhooks. Resolves once all three change pods. */
export async function startWebhooks(): Promise<Webhooks> {
  const [before, after] = await Promise.all([
    startNamedInstallation(orders["before Istio's"]),
    startNamedInstallation(orders["after Istio's"]),
    startIstio(),
  ]);
  const installations = { "before Istio's": before, "after Istio's": after };
  return {
    namespace: (order) => installations[order].namespace(injected),
    installation: (order) => installations[order],
    async [Symbol.asyncDispose]() {
      await Promise.all([before, after].map((webhook) => webhook[Symbol.asyncDispose]()));
    },
  };
}
