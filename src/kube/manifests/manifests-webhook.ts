import { type Installation, type Manifest, metadataIn, selectorOf } from "./installation.ts";
import { admissionManifest } from "./manifests-admission.ts";
import { certManagerManifests } from "./manifests-cert-manager.ts";
import { deploymentManifest } from "./manifests-deployment.ts";
import { rbacManifests } from "./manifests-rbac.ts";

/** All that the webhook is made of. With cert-manager it asks nobody for anything, so it may do nothing. */
export function webhookManifests(installation: Installation): readonly Manifest[] {
  const { certManager, networkPolicy } = installation;
  return [
    serviceAccount(installation),
    ...(certManager ? certManagerManifests(installation) : rbacManifests(installation)),
    ...(networkPolicy ? [networkPolicyManifest(installation)] : []),
    service(installation),
    disruptionBudget(installation),
    deploymentManifest(installation),
    admissionManifest(installation),
  ];
}

function serviceAccount(installation: Installation): Manifest {
  const metadata = metadataIn(installation, "webhook");
  return { object: { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false } };
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

function disruptionBudget(installation: Installation): Manifest {
  const metadata = metadataIn(installation, "webhook");
  const spec = {
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: "AlwaysAllow",
    selector: { matchLabels: selectorOf(installation, "webhook") },
  };
  return {
    about: "While nodes are drained one replica goes at a time.",
    object: { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec },
  };
}

/** Where an API server is nobody knows for sure, so a webhook that needs it may go out. */
function networkPolicyManifest(installation: Installation): Manifest {
  const { certManager } = installation;
  const metadata = metadataIn(installation, "webhook");
  const spec = {
    podSelector: { matchLabels: selectorOf(installation, "webhook") },
    policyTypes: certManager ? ["Ingress", "Egress"] : ["Ingress"],
    ingress: [{ ports: ["https", "http"].map((port) => ({ port, protocol: "TCP" })) }],
  };
  return {
    about: `The API server, probes and metrics come in. ${certManager ? "Nothing goes out." : "What goes out, to the API server, is not limited."}`,
    object: { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec },
  };
}
