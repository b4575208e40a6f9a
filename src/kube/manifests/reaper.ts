import { deployment, disruptionBudget, networkPolicy, podTemplate, serviceAccount } from "./common.ts";
import { type Installation, type Manifest, metadataIn, nameOf } from "./installation.ts";
import { podSpec, topologySpread } from "./pod.ts";
import { reaperRbacManifests } from "./reaper-rbac.ts";

/**
 * Returns all objects of the reaper, with a CronJob if the installation has a schedule, else with a Deployment, one
 * replica of which acts.
 */
export function reaperManifests(installation: Installation): readonly Manifest[] {
  const { schedule } = installation;
  const isCronJob = schedule !== undefined;
  const policy = isCronJob
    ? { about: "Nobody comes in.", ports: [], asksApi: true }
    : { about: "Probes and metrics come in.", ports: ["http"], asksApi: true };
  return [
    serviceAccount(installation, "reaper"),
    ...reaperRbacManifests(installation),
    ...(installation.networkPolicy ? [networkPolicy(installation, "reaper", policy)] : []),
    ...(isCronJob
      ? [cronJob(installation, schedule)]
      : [disruptionBudget(installation, "reaper"), replicas(installation)]),
  ];
}

function replicas(installation: Installation): Manifest {
  const spec = podSpec(installation, {
    component: "reaper",
    args: [...flagsOf(installation), ...(installation.dryRun ? [] : [`--lease=${nameOf(installation, "reaper")}`])],
    ports: { http: 8080 },
    memoryLimit: MEMORY,
    hasToken: true,
    more: topologySpread(installation, "reaper"),
  });
  return {
    about: "All replicas watch; the one that holds the Lease acts.",
    object: deployment(installation, "reaper", spec),
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
    notes: { "spec.concurrencyPolicy": "Nothing else keeps two of them apart: there is no Lease." },
  };
}

/** The memory limit. Of this, the reaper needs a part for 10,000 pods. */
const MEMORY = "512Mi";

function flagsOf({ reapNamespaces, toReaper }: Installation): readonly string[] {
  return [...reapNamespaces.map((name) => `--namespace=${name}`), ...toReaper];
}
