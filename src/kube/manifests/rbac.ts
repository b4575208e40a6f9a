import { leaseRules, type PolicyRule, roleWithBinding } from "./common.ts";
import { type Installation, type Manifest, metadataIn, metadataOf, nameOf, secretOf } from "./installation.ts";

/**
 * Returns the roles and their bindings of a webhook with a CA of its own: to keep it in a Secret, elect a leader, and
 * write the caBundle.
 */
export function rbacManifests(installation: Installation): readonly Manifest[] {
  return [
    ...roleWithBinding(installation, "webhook", {
      about: "The webhook's own CA and certificate are in a Secret; a Lease says which replica renews them.",
      kind: "Role",
      metadata: metadataIn(installation, "webhook"),
      rules: rulesInNamespace(installation),
      notes: { rules: "What does not exist yet cannot be limited by name: create stands alone." },
    }),
    ...roleWithBinding(installation, "webhook", {
      about: "Its CA goes into its own registration, and into no other.",
      kind: "ClusterRole",
      metadata: metadataOf(installation, "webhook"),
      rules: rulesInCluster(installation),
    }),
  ];
}

function rulesInNamespace(installation: Installation): readonly PolicyRule[] {
  const secrets = { apiGroups: [""], resources: ["secrets"] };
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, resourceNames: [secretOf(installation)], verbs: ["get", "list", "watch", "update"] },
    ...leaseRules(nameOf(installation, "webhook")),
  ];
}

function rulesInCluster(installation: Installation): readonly PolicyRule[] {
  const apiGroups = ["admissionregistration.k8s.io"];
  const resources = ["mutatingwebhookconfigurations"];
  const resourceNames = [nameOf(installation, "webhook")];
  return [{ apiGroups, resources, resourceNames, verbs: ["get", "list", "watch", "patch"] }];
}
