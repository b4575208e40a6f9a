import {
  type Installation,
  type Manifest,
  type Metadata,
  metadataIn,
  metadataOf,
  nameOf,
  secretOf,
} from "./installation.ts";

const GROUP = "rbac.authorization.k8s.io";
const apiVersion = `${GROUP}/v1`;

/** What a webhook with a CA of its own may do: keep it in a Secret, agree on who does, and have the API server trust it. */
export function rbacManifests(installation: Installation): readonly Manifest[] {
  const [inNamespace, inCluster] = [metadataIn(installation, "webhook"), metadataOf(installation, "webhook")];
  return [
    {
      about: "The webhook's own CA and certificate are in a Secret; a Lease says which replica renews them.",
      object: { apiVersion, kind: "Role", metadata: inNamespace, rules: rulesInNamespace(installation) },
      notes: { rules: "What does not exist yet cannot be limited by name: create stands alone." },
    },
    { object: binding(installation, "Role", inNamespace) },
    {
      about: "Its CA goes into its own registration, and into no other.",
      object: { apiVersion, kind: "ClusterRole", metadata: inCluster, rules: rulesInCluster(installation) },
    },
    { object: binding(installation, "ClusterRole", inCluster) },
  ];
}

function rulesInNamespace(installation: Installation) {
  const [secrets, leases] = [
    { apiGroups: [""], resources: ["secrets"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"] },
  ];
  return [
    { ...secrets, verbs: ["create"] },
    { ...secrets, resourceNames: [secretOf(installation)], verbs: ["get", "list", "watch", "update"] },
    { ...leases, verbs: ["create"] },
    { ...leases, resourceNames: [nameOf(installation, "webhook")], verbs: ["get", "update"] },
  ];
}

function rulesInCluster(installation: Installation) {
  const apiGroups = ["admissionregistration.k8s.io"];
  const resources = ["mutatingwebhookconfigurations"];
  const resourceNames = [nameOf(installation, "webhook")];
  return [{ apiGroups, resources, resourceNames, verbs: ["get", "list", "watch", "patch"] }];
}

function binding(installation: Installation, kind: "Role" | "ClusterRole", metadata: Metadata) {
  const name = nameOf(installation, "webhook");
  return {
    apiVersion,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: GROUP, kind, name },
    subjects: [{ kind: "ServiceAccount", name, namespace: installation.namespace }],
  };
}
