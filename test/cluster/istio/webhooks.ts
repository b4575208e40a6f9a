import type { Namespace } from "../cluster.ts";
import { type Installation, startNamedInstallation } from "../webhook/installation.ts";
import { injected, startIstio } from "./istio.ts";

/**
 * When the API server asks ebb's webhook: it goes by the names of registrations. Before Istio's it is asked once more after
 * it, because that changes the pod; Istio's own asks for no second time.
 */
export const orders = { "before Istio's": "a-", "after Istio's": "z-" } as const;

export type Order = keyof typeof orders;

/** Istio beside two webhooks of ebb's, for namespaces of their own; `await using` it. */
export interface Webhooks extends AsyncDisposable {
  /** A namespace whose pods Istio and the one of these change. */
  namespace(order: Order): Promise<Namespace>;
  installation(order: Order): Installation;
}

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
