import { type Installation, type Manifest, metadataIn, nameOf, secretOf, selectorOf } from "./installation.ts";

/** The webhook's replicas. */
export function deploymentManifest(installation: Installation): Manifest {
  const metadata = metadataIn(installation, "webhook");
  const { labels } = metadata;
  const spec = {
    replicas: installation.replicas,
    selector: { matchLabels: selectorOf(installation, "webhook") },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: { metadata: { labels }, spec: podSpec(installation) },
  };
  return {
    object: { apiVersion: "apps/v1", kind: "Deployment", metadata, spec },
    notes: {
      "spec.template.spec.terminationGracePeriodSeconds":
        "The webhook drains itself: on SIGTERM it goes on answering while its address leaves the endpoints.",
    },
  };
}

function podSpec(installation: Installation) {
  const { certManager, imagePullSecrets, priorityClass } = installation;
  const secret = { name: "certificates", secret: { secretName: secretOf(installation) } };
  return {
    serviceAccountName: nameOf(installation, "webhook"),
    automountServiceAccountToken: !certManager,
    enableServiceLinks: false,
    ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    nodeSelector: { "kubernetes.io/os": "linux" },
    topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: selectorOf(installation, "webhook") },
      matchLabelKeys: ["pod-template-hash"],
    })),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    },
    terminationGracePeriodSeconds: 30,
    containers: [container(installation)],
    ...(certManager ? { volumes: [secret] } : {}),
  };
}

function container(installation: Installation) {
  const { image, imagePullPolicy, certManager } = installation;
  return {
    name: "webhook",
    image,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: ["/ebb", "webhook"],
    args: [...certificateFlags(installation), ...installation.passedOn],
    ports: [
      { name: "https", containerPort: 8443, protocol: "TCP" },
      { name: "http", containerPort: 8080, protocol: "TCP" },
    ],
    readinessProbe: { httpGet: { path: "/readyz", port: "http" }, periodSeconds: 2, timeoutSeconds: 2 },
    livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10, timeoutSeconds: 5 },
    resources: { requests: { cpu: "20m", memory: "64Mi" }, limits: { memory: "256Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    ...(certManager ? { volumeMounts: [{ name: "certificates", mountPath: CERTIFICATES, readOnly: true }] } : {}),
  };
}

const CERTIFICATES = "/certificates";

function certificateFlags(installation: Installation): readonly string[] {
  if (installation.certManager) return [`--cert-dir=${CERTIFICATES}`];
  const name = nameOf(installation, "webhook");
  return [
    `--namespace=${installation.namespace}`,
    `--service=${name}`,
    `--secret=${secretOf(installation)}`,
    `--lease=${name}`,
    `--webhook-config=${name}`,
    ...installation.ofOwnCa,
  ];
}
