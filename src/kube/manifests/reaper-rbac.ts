import type { MethodKind } from "../../core/reap/methods.ts";
import { rightsByMethod } from "../../core/reap/rights.ts";
import { leaseRules, type PolicyRule, roleWithBinding } from "./common.ts";
import { type Installation, type Manifest, metadataIn, metadataOf, nameOf } from "./installation.ts";

/**
 * Returns the reaper's roles and their bindings: to read pods, end sidecars by the allowed methods alone, and write
 * Events; in the cluster, or in the namespaces that are named. With --dry-run only to read. If replicas elect a leader,
 * also to use the Lease.
 */
export function reaperRbacManifests(installation: Installation): readonly Manifest[] {
  const { reapNamespaces } = installation;
  const where =
    reapNamespaces.length === 0
      ? inCluster(installation)
      : reapNamespaces.flatMap((namespace, at) => inNamespace(installation, namespace, at === 0));
  return [...where, ...(leads(installation) ? lease(installation) : [])];
}

/** Reports whether replicas elect a leader. */
function leads({ dryRun, schedule }: Installation): boolean {
  return !dryRun && schedule === undefined;
}

function inCluster(installation: Installation): readonly Manifest[] {
  const namespaces = { apiGroups: [""], resources: ["namespaces"], verbs: ["list", "watch"] };
  return roleWithBinding(installation, "reaper", {
    about: about(installation),
    kind: "ClusterRole",
    metadata: metadataOf(installation, "reaper"),
    rules: [...podRules(installation), namespaces],
  });
}

function inNamespace(installation: Installation, namespace: string, isFirst: boolean): readonly Manifest[] {
  const ownLabel = { apiGroups: [""], resources: ["namespaces"], resourceNames: [namespace], verbs: ["get"] };
  return roleWithBinding(installation, "reaper", {
    ...(isFirst ? { about: about(installation) } : {}),
    kind: "Role",
    metadata: { ...metadataIn(installation, "reaper"), namespace },
    rules: [...podRules(installation), ownLabel],
  });
}

function about({ dryRun, methods }: Installation): string {
  if (dryRun) return "Pods, and the label ebb.dev/reap of their namespaces, to look at: nothing can be done.";
  return `Pods, and the label ebb.dev/reap of their namespaces; Events on pods; and how sidecars are ended: ${methods.join(", ")}.`;
}

function podRules({ methods, dryRun }: Installation): readonly PolicyRule[] {
  const pods = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] };
  if (dryRun) return [pods];
  const events = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "list"] };
  return [pods, ...methods.map(ruleOf), events];
}

function ruleOf(methods: MethodKind): PolicyRule {
  const { resource, verbs } = rightsByMethod[methods];
  return { apiGroups: [""], resources: [resource], verbs };
}

/** Returns the role for the Lease, under another name than the Role above, which may be in the same namespace. */
function lease(installation: Installation): readonly Manifest[] {
  const name = nameOf(installation, "reaper");
  return roleWithBinding(installation, "reaper", {
    about: "The Lease by which replicas agree on who acts.",
    kind: "Role",
    metadata: { ...metadataIn(installation, "reaper"), name: `${name}-lease` },
    rules: leaseRules(name),
    notes: { rules: "What does not exist yet cannot be limited by name: create stands alone." },
  });
}
