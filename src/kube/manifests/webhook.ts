import { admissionManifest } from "./admission.ts";
import { certManagerManifests } from "./cert-manager.ts";
import { disruptionBudget, networkPolicy, serviceAccount } from "./common.ts";
import { deploymentManifest } from "./deployment.ts";
import { type Installation, type Manifest, metadataIn, selectorOf } from "./installation.ts";
import { rbacManifests } from "./rbac.ts";

/**
 * Returns all objects of the webhook. The registration is first, so that `kubectl delete` removes it first and no pod
 * waits for a webhook that is going. With cert-manager the webhook needs no permissions.
 */
export function webhookManifests(installation: Installation): readonly Manifest[] {
  const { certManager } = installation;
  const policy = {
    about: "The API server, probes and metrics come in.",
    ports: ["https", "http"],
    asksApi: !certManager,
  };
  return [
    admissionManifest(installation),
    serviceAccount(installation, "webhook"),
    ...(certManager ? certManagerManifests(installation) : rbacManifests(installation)),
    ...(installation.networkPolicy ? [networkPolicy(installation, "webhook", policy)] : []),
    service(installation),
    disruptionBudget(installation, "webhook"),
    deploymentManifest(installation),
  ];
}

function service(installation: Installation): Manifest {
  const metadata = metadataIn(installation, "webhook");
  const spec = {
    selector: selectorOf(installation, "webhook"),
    ports: [{ name: "https", port: 443, targetPort: "https", protocol: "TCP" }],
  };
  return {
    about: "Where the API server asks. It must reach port 8443 of the pods: private clusters may need a firewall rule.",
    object: { apiVersion: "v1", kind: "Service", metadata, spec },
  };
}
