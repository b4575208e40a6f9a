import { type Component, type Installation, nameOf, selectorOf } from "./installation.ts";

/** What differs between the pods of the components. */
export interface PodPlan {
  readonly component: Component;
  readonly args: readonly string[];
  /** Ports by name. Probes ask at `http`; there are none without that port. */
  readonly ports: Readonly<Record<string, number>>;
  readonly memoryLimit: string;
  /** Whether its pods get a token for the API server. */
  readonly hasToken: boolean;
  /** Volumes by name, each with its source and the folder at which it is mounted. */
  readonly volumes?: Readonly<Record<string, { readonly source: object; readonly mountPath: string }>>;
  /** Other fields of the pod's spec. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the spec of a component's pod, which Pod Security's `restricted` admits. Its user is the image's, because
 * OpenShift refuses any but the namespace's own.
 */
export function podSpec(installation: Installation, plan: PodPlan) {
  const { imagePullSecrets, priorityClass } = installation;
  const { component, hasToken, more = {} } = plan;
  const volumes = Object.entries(plan.volumes ?? {}).map(([name, { source }]) => ({ name, ...source }));
  return {
    serviceAccountName: nameOf(installation, component),
    automountServiceAccountToken: hasToken,
    enableServiceLinks: false,
    ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    nodeSelector: { "kubernetes.io/os": "linux" },
    ...more,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    terminationGracePeriodSeconds: 30,
    containers: [container(installation, plan)],
    ...(volumes.length === 0 ? {} : { volumes }),
  };
}

/**
 * Returns the field of a pod's spec that spreads replicas over nodes and zones, as far as that is possible: a pod that
 * cannot be spread is scheduled all the same.
 */
export function topologySpread(installation: Installation, component: Component) {
  return {
    topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: selectorOf(installation, component) },
      matchLabelKeys: ["pod-template-hash"],
    })),
  };
}

function container({ image, imagePullPolicy }: Installation, plan: PodPlan) {
  const { component, args, ports, memoryLimit, volumes = {} } = plan;
  const mounts = Object.entries(volumes).map(([name, { mountPath }]) => ({ name, mountPath, readOnly: true }));
  const portList = Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort, protocol: "TCP" }));
  return {
    name: component,
    image,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: ["/ebb", component],
    args,
    ...(portList.length === 0 ? {} : { ports: portList }),
    ...("http" in ports ? probes : {}),
    resources: { requests: { cpu: "20m", memory: "64Mi" }, limits: { memory: memoryLimit } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
  };
}

const probes = {
  readinessProbe: { httpGet: { path: "/readyz", port: "http" }, periodSeconds: 2, timeoutSeconds: 2 },
  livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10, timeoutSeconds: 5 },
};
