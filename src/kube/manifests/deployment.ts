import { memoryLimitMiB } from "../../core/cluster/webhook-memory.ts";
import { deployment } from "./common.ts";
import { type Installation, type Manifest, nameOf, namespaceOf, secretOf } from "./installation.ts";
import { podSpec, topologySpread } from "./pod.ts";

/** Returns the webhook's Deployment. */
export function deploymentManifest(installation: Installation): Manifest {
  const { certManager } = installation;
  const spec = podSpec(installation, {
    component: "webhook",
    args: [...certificateFlags(installation), ...installation.passedOn],
    ports: { https: 8443, http: 8080 },
    memoryLimit: `${memoryLimitMiB(installation.maxRequestBytes)}Mi`,
    hasToken: !certManager,
    ...(certManager
      ? { secrets: { certificates: { secretName: secretOf(installation), mountPath: CERTIFICATES } } }
      : {}),
    more: topologySpread(installation, "webhook"),
  });
  return {
    object: deployment(installation, "webhook", spec),
    notes: {
      "spec.template.spec.terminationGracePeriodSeconds":
        "The webhook drains itself: on SIGTERM it goes on answering while its address leaves the endpoints.",
    },
  };
}

/** Where the Secret with cert-manager's certificate is mounted. */
const CERTIFICATES = "/certificates";

function certificateFlags(installation: Installation): readonly string[] {
  if (installation.certManager) return [`--cert-dir=${CERTIFICATES}`];
  const name = nameOf(installation, "webhook");
  return [
    `--namespace=${namespaceOf(installation, "webhook")}`,
    `--service=${name}`,
    `--secret=${secretOf(installation)}`,
    `--lease=${name}`,
    `--webhook-config=${name}`,
    ...installation.ofOwnCa,
  ];
}
