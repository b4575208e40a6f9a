import { memoryLimitMiB } from "../../core/cluster/webhook-memory.ts";
import { admissionManifest } from "./admission.ts";
import { certManagerManifests } from "./cert-manager.ts";
import {
  deployment,
  disruptionBudget,
  networkPolicy,
  type PolicyRule,
  podMonitor,
  roleWithBinding,
  serviceAccount,
} from "./common.ts";
import {
  type Installation,
  type Manifest,
  metadataIn,
  metadataOf,
  nameOf,
  namespaceOf,
  secretOf,
  selectorOf,
} from "./installation.ts";
import { podSpec, topologySpread } from "./pod.ts";

/**
 * Returns all objects of the webhook. The registration is first, so that `kubectl delete` removes it first and no pod
 * waits for a webhook that is going. With cert-manager, and without --pull-secrets, the webhook needs no permissions.
 */
export function webhookManifests(installation: Installation): readonly Manifest[] {
  const { certManager } = installation;
  const policy = {
    about: "The API server, probes and metrics come in.",
    ports: ["https", "http"],
    asks: [
      ...(hasToken(installation) ? ["the API server"] : []),
      ...(installation.asksRegistries ? ["registries"] : []),
    ],
  };
  return [
    admissionManifest(installation),
    serviceAccount(installation, "webhook"),
    ...(certManager ? certManagerManifests(installation) : ownCaManifests(installation)),
    ...(installation.pullSecrets ? pullSecretManifests(installation) : []),
    ...(installation.networkPolicy ? [networkPolicy(installation, "webhook", policy)] : []),
    service(installation),
    disruptionBudget(installation, "webhook"),
    deploymentManifest(installation),
    ...(installation.podMonitor ? [podMonitor(installation, "webhook")] : []),
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

/**
 * Returns what a webhook with a CA of its own needs: the Secret that it keeps it in, and the roles and their bindings to
 * use it, and to write the caBundle.
 */
function ownCaManifests(installation: Installation): readonly Manifest[] {
  return [
    secret(installation),
    ...roleWithBinding(installation, "webhook", {
      about: "The webhook's own CA and certificate are in its Secret.",
      kind: "Role",
      metadata: metadataIn(installation, "webhook"),
      rules: rulesInNamespace(installation),
    }),
    ...roleWithBinding(installation, "webhook", {
      about: "Its CA goes into its own registration, and into no other.",
      kind: "ClusterRole",
      metadata: metadataOf(installation, "webhook"),
      rules: rulesInCluster(installation),
    }),
  ];
}

/**
 * Returns the Secret, which the webhook fills. It has no data, so that no `kubectl apply` takes away what is there; and
 * no type, which cannot be changed and was another one if cert-manager made it.
 */
function secret(installation: Installation): Manifest {
  const metadata = { ...metadataIn(installation, "webhook"), name: secretOf(installation) };
  return {
    about:
      "It is installed empty: the webhook writes its CA and certificate into it, and needs no right to create any.",
    object: { apiVersion: "v1", kind: "Secret", metadata },
  };
}

/** Returns the role and its binding of a webhook that reads the Secrets that pods name to pull their images. */
function pullSecretManifests(installation: Installation): readonly Manifest[] {
  const metadata = metadataOf(installation, "webhook");
  return roleWithBinding(installation, "webhook", {
    about: `By --pull-secrets: it may read every Secret whose name and namespace are known, of any type, because RBAC knows no
types. It reads those that new pods name in imagePullSecrets. To allow it in some namespaces only, replace this binding by
RoleBindings in them.`,
    kind: "ClusterRole",
    metadata: { ...metadata, name: `${metadata.name}-pull-secrets` },
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
  });
}

function hasToken({ certManager, pullSecrets }: Installation): boolean {
  return !certManager || pullSecrets;
}

function rulesInNamespace(installation: Installation): readonly PolicyRule[] {
  const resourceNames = [secretOf(installation)];
  return [{ apiGroups: [""], resources: ["secrets"], resourceNames, verbs: ["get", "list", "watch", "update"] }];
}

function rulesInCluster(installation: Installation): readonly PolicyRule[] {
  const apiGroups = ["admissionregistration.k8s.io"];
  const resources = ["mutatingwebhookconfigurations"];
  const resourceNames = [nameOf(installation, "webhook")];
  return [{ apiGroups, resources, resourceNames, verbs: ["get", "list", "watch", "patch"] }];
}

/** Returns the webhook's Deployment. */
function deploymentManifest(installation: Installation): Manifest {
  const spec = podSpec(installation, {
    component: "webhook",
    args: [...certificateFlags(installation), ...fileFlags(installation), ...installation.passedOn],
    ports: { https: 8443, http: 8080 },
    memoryLimit: `${memoryLimitMiB(installation.maxRequestBytes, installation.asksRegistries)}Mi`,
    hasToken: hasToken(installation),
    volumes: volumesOf(installation),
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

/** Where the Secret with cert-manager's certificate is mounted, and what the webhook needs for registries. */
const CERTIFICATES = "/certificates";
const CREDENTIALS = "/registry-credentials";
const AUTHORITIES = "/registry-ca";

function volumesOf(installation: Installation) {
  const { certManager, registrySecret, registryCaConfigMap } = installation;
  const mounted = (mountPath: string, source: object) => ({ mountPath, source });
  return {
    ...(certManager && { certificates: mounted(CERTIFICATES, { secret: { secretName: secretOf(installation) } }) }),
    ...(registrySecret && {
      "registry-credentials": mounted(CREDENTIALS, { secret: { secretName: registrySecret } }),
    }),
    ...(registryCaConfigMap && { "registry-ca": mounted(AUTHORITIES, { configMap: { name: registryCaConfigMap } }) }),
  };
}

function fileFlags({ registrySecret, registryCaConfigMap }: Installation): readonly string[] {
  return [
    ...(registrySecret === undefined ? [] : [`--registry-config=${CREDENTIALS}/.dockerconfigjson`]),
    ...(registryCaConfigMap === undefined ? [] : [`--registry-ca=${AUTHORITIES}/ca.crt`]),
  ];
}

function certificateFlags(installation: Installation): readonly string[] {
  if (installation.certManager) return [`--cert-dir=${CERTIFICATES}`];
  const name = nameOf(installation, "webhook");
  return [
    `--namespace=${namespaceOf(installation, "webhook")}`,
    `--service=${name}`,
    `--secret=${secretOf(installation)}`,
    `--webhook-config=${name}`,
    ...installation.ofOwnCa,
  ];
}
