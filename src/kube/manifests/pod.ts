import { type Component, type Installation, nameOf, selectorOf } from "./installation.ts";

/** What is a component's own in the pods that it runs in. */
export interface PodPlan {
  readonly component: Component;
  readonly args: readonly string[];
  /** By name. Probes ask at `http`; without that there are none. */
  readonly ports: Readonly<Record<string, number>>;
  readonly memoryLimit: string;
  /** Whether it asks the API server. */
  readonly hasToken: boolean;
  /** Secrets by volume, with where they are mounted. */
  readonly secrets?: Readonly<Record<string, { readonly secretName: string; readonly mountPath: string }>>;
  /** Other fields of the pod. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Returns the spec of a component's pod, which Pod Security's `restricted` admits. */
export function podSpec(installation: Installation, plan: PodPlan) {
  const { imagePullSecrets, priorityClass } = installation;
  const { component, hasToken, secrets = {}, more = {} } = plan;
  const volumes = Object.entries(secrets).map(([name, { secretName }]) => ({ name, secret: { secretName } }));
  return {
    serviceAccountName: nameOf(installation, component),
    automountServiceAccountToken: hasToken,
    enableServiceLinks: false,
    ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    nodeSelector: { "kubernetes.io/os": "linux" },
    ...more,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    },
    terminationGracePeriodSeconds: 30,
    containers: [container(installation, plan)],
    ...(volumes.length === 0 ? {} : { volumes }),
  };
}

/** Returns what spreads replicas over nodes and zones. */
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
  const { component, args, ports, memoryLimit, secrets = {} } = plan;
  const mounts = Object.entries(secrets).map(([name, { mountPath }]) => ({ name, mountPath, readOnly: true }));
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
