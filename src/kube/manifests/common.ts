import {
  type Component,
  type Installation,
  type KubernetesObject,
  type Manifest,
  type Metadata,
  metadataIn,
  nameOf,
  namespaceOf,
  selectorOf,
} from "./installation.ts";

// What every component has, whatever it does.

/** Returns the ServiceAccount of a component. No pod gets its token unless the pod asks for it. */
export function serviceAccount(installation: Installation, component: Component): Manifest {
  const metadata = metadataIn(installation, component);
  return { object: { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false } };
}

/** Returns the Deployment of a component. During a rollout there are never fewer ready replicas than before. */
export function deployment(installation: Installation, component: Component, podSpec: unknown): KubernetesObject {
  const metadata = metadataIn(installation, component);
  const spec = {
    replicas: installation.replicas,
    selector: { matchLabels: selectorOf(installation, component) },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: podTemplate(metadata, podSpec),
  };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec };
}

/**
 * Returns a pod template with an annotation that keeps webhooks with --all, of this installation or another, from its
 * pods.
 */
export function podTemplate({ labels }: Metadata, spec: unknown) {
  return { metadata: { labels, annotations: { "ebb.dev/inject": "false" } }, spec };
}

/** Returns the PodDisruptionBudget of a component: one replica is evicted at a time. */
export function disruptionBudget(installation: Installation, component: Component): Manifest {
  const metadata = metadataIn(installation, component);
  const spec = {
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: "AlwaysAllow",
    selector: { matchLabels: selectorOf(installation, component) },
  };
  return {
    about: "While nodes are drained one replica goes at a time.",
    object: { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec },
  };
}

/**
 * Returns the NetworkPolicy of a component: connections may come in to `ports`, by their names, and to no others. If it
 * asks anyone, connections may go out to anywhere, because neither an API server's address is known nor a registry's;
 * else none may.
 */
export function networkPolicy(
  installation: Installation,
  component: Component,
  { about, ports, asks }: NetworkPolicyPlan,
): Manifest {
  const metadata = metadataIn(installation, component);
  const ingress = ports.length === 0 ? [] : [{ ports: ports.map((port) => ({ port, protocol: "TCP" })) }];
  const spec = {
    podSelector: { matchLabels: selectorOf(installation, component) },
    policyTypes: asks.length > 0 ? ["Ingress"] : ["Ingress", "Egress"],
    ingress,
  };
  const out = asks.length > 0 ? `What goes out, to ${asks.join(" and ")}, is not limited.` : "Nothing goes out.";
  return {
    about: `${about} ${out}`,
    object: { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec },
  };
}

/** What a component's NetworkPolicy allows. */
export interface NetworkPolicyPlan {
  readonly about: string;
  readonly ports: readonly string[];
  /** Whom the component asks: `the API server`. */
  readonly asks: readonly string[];
}

/** Returns the PodMonitor of a component, by which the Prometheus operator scrapes each of its pods. */
export function podMonitor(installation: Installation, component: Component): Manifest {
  const metadata = metadataIn(installation, component);
  const spec = {
    selector: { matchLabels: selectorOf(installation, component) },
    podMetricsEndpoints: [{ port: "http", path: "/metrics" }],
  };
  return { object: { apiVersion: "monitoring.coreos.com/v1", kind: "PodMonitor", metadata, spec } };
}

/** The API group of RBAC. */
const GROUP = "rbac.authorization.k8s.io";

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Returns a Role or ClusterRole, with the comments that are printed with it, and the binding that grants it to the
 * component's ServiceAccount.
 */
export function roleWithBinding(
  installation: Installation,
  component: Component,
  { kind, metadata, rules, ...words }: CommentedRole,
): readonly Manifest[] {
  const apiVersion = `${GROUP}/v1`;
  const subject = {
    kind: "ServiceAccount",
    name: nameOf(installation, component),
    namespace: namespaceOf(installation, component),
  };
  const roleRef = { apiGroup: GROUP, kind, name: metadata.name };
  return [
    { ...words, object: { apiVersion, kind, metadata, rules } },
    { object: { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects: [subject] } },
  ];
}

/** A Role or ClusterRole, and the comments that are printed with it. */
export interface CommentedRole extends Omit<Manifest, "object"> {
  readonly kind: "Role" | "ClusterRole";
  readonly metadata: Metadata;
  readonly rules: readonly PolicyRule[];
}

/** Returns the Lease of a component, which its replicas fill. */
export function lease(installation: Installation, component: Component): Manifest {
  const metadata = metadataIn(installation, component);
  return {
    about:
      "The Lease by which replicas agree on who acts. It is installed empty, so that none needs the right to create any.",
    object: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata },
  };
}

/** Returns the rule that leader election by the Lease of this name needs. */
export function leaseRule(name: string): PolicyRule {
  return { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: [name], verbs: ["get", "update"] };
}
