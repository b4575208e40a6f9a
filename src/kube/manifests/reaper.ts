import { type MethodKind, methodKinds } from "../../core/reap/methods.ts";
import { rightsByMethod } from "../../core/reap/rights.ts";
import {
  deployment,
  networkPolicy,
  type PolicyRule,
  podMonitor,
  podTemplate,
  roleWithBinding,
  serviceAccount,
} from "./common.ts";
import { type Installation, type Manifest, metadataIn, metadataOf } from "./installation.ts";
import { podSpec } from "./pod.ts";

/**
 * Returns all objects of the reaper, with a CronJob if the installation has a schedule, else with a Deployment of one
 * replica.
 */
export function reaperManifests(installation: Installation): readonly Manifest[] {
  const { schedule } = installation;
  const isCronJob = schedule !== undefined;
  const policy = isCronJob
    ? { about: "Nobody comes in.", ports: [], asks: ["the API server"] }
    : { about: "Probes and metrics come in.", ports: ["http"], asks: ["the API server"] };
  return [
    serviceAccount(installation, "reaper"),
    ...reaperRbacManifests(installation),
    ...(installation.networkPolicy ? [networkPolicy(installation, "reaper", policy)] : []),
    ...(isCronJob ? [cronJob(installation, schedule)] : running(installation)),
  ];
}

function running(installation: Installation): readonly Manifest[] {
  return [replica(installation), ...(installation.podMonitor ? [podMonitor(installation, "reaper")] : [])];
}

function replica(installation: Installation): Manifest {
  const spec = podSpec(installation, {
    component: "reaper",
    args: flagsOf(installation),
    ports: { http: 8080 },
    memoryLimit: MEMORY,
    hasToken: true,
  });
  const { spec: usual, ...object } = deployment(installation, "reaper", spec);
  return {
    about: "One replica: a second one would ask sidecars to quit that the first has asked.",
    object: { ...object, spec: { ...(usual as object), replicas: 1, strategy: { type: "Recreate" } } },
  };
}

function cronJob(installation: Installation, schedule: string): Manifest {
  const metadata = metadataIn(installation, "reaper");
  const pod = podSpec(installation, {
    component: "reaper",
    args: ["--once", ...flagsOf(installation)],
    ports: {},
    memoryLimit: MEMORY,
    hasToken: true,
    more: { restartPolicy: "Never" },
  });
  const template = podTemplate(metadata, pod);
  const spec = {
    schedule,
    concurrencyPolicy: "Forbid",
    startingDeadlineSeconds: 60,
    successfulJobsHistoryLimit: 1,
    failedJobsHistoryLimit: 3,
    jobTemplate: { spec: { backoffLimit: 0, template } },
  };
  return {
    about:
      "The log of its last pod is the table of what it did, and why not. A pod that it gave up makes its Job fail.",
    object: { apiVersion: "batch/v1", kind: "CronJob", metadata, spec },
  };
}

/** The memory limit. Of this, the reaper needs a part for 10,000 pods. */
const MEMORY = "512Mi";

function flagsOf({ reapNamespaces, toReaper }: Installation): readonly string[] {
  return [...reapNamespaces.map((name) => `--namespace=${name}`), ...toReaper];
}

/**
 * Returns the reaper's roles and their bindings: to read pods, end sidecars by the allowed methods alone, and write
 * Events; in the cluster, or in the namespaces that are named. With --dry-run only to read.
 */
function reaperRbacManifests(installation: Installation): readonly Manifest[] {
  const { reapNamespaces } = installation;
  return reapNamespaces.length === 0
    ? inCluster(installation)
    : reapNamespaces.flatMap((namespace, at) => inNamespace(installation, namespace, at === 0));
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
  const events = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] };
  return [pods, ...methodKinds.filter((kind) => methods.includes(kind)).map(ruleOf), events];
}

function ruleOf(methods: MethodKind): PolicyRule {
  const { resource, verbs } = rightsByMethod[methods];
  return { apiGroups: [""], resources: [resource], verbs };
}
