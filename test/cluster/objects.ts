/** Any object of the API. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** A container of a pod, as in a manifest. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly [field: string]: unknown;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly object[];
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
  readonly terminationGracePeriodSeconds?: number;
  readonly [field: string]: unknown;
}

export interface Pod {
  readonly metadata: Metadata;
  readonly spec: PodSpec;
  readonly status: {
    readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  /** `containerd://ID`. */
  readonly containerID?: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
}

interface ContainerState {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly signal?: number;
    readonly reason: string;
    readonly message?: string;
    readonly startedAt: string;
    readonly finishedAt: string;
  };
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}

export interface Job {
  readonly metadata: Metadata;
  readonly status: {
    readonly active?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** Returns a pod whose containers are not started again when they end. */
export function podOf(name: string, spec: PodSpec, metadata: Partial<Metadata> = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { restartPolicy: "Never", ...spec },
  };
}

/** Returns a Job that is tried once. `more` adds fields to its spec. */
export function jobOf(name: string, spec: PodSpec, more: Readonly<Record<string, unknown>> = {}): KubeObject {
  const template = { metadata: { labels: { app: name } }, spec: { restartPolicy: "Never", ...spec } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { backoffLimit: 0, ...more, template } };
}

interface MoreOfDeployment {
  /** The annotations of its pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Other fields of its spec. */
  readonly [field: string]: unknown;
}

/** Returns a Deployment of pods with the label `app: NAME`. */
export function deploymentOf(name: string, spec: PodSpec, { annotations, ...more }: MoreOfDeployment = {}): KubeObject {
  const labels = { app: name };
  const template = { metadata: { labels, ...(annotations === undefined ? {} : { annotations }) }, spec };
  const selector = { matchLabels: labels };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec: { ...more, selector, template } };
}

interface Template {
  readonly spec: { readonly template: { readonly metadata: Pod["metadata"]; readonly spec: PodSpec } };
}

/** Returns a Job, a Deployment ... with another spec of its pods, and more annotations on them. */
export function withPod(
  object: KubeObject,
  change: (spec: PodSpec) => PodSpec,
  annotations: Readonly<Record<string, string>> = {},
): KubeObject {
  const { template, ...spec } = (object as unknown as Template).spec;
  const metadata = { ...template.metadata, annotations: { ...template.metadata.annotations, ...annotations } };
  return { ...object, spec: { ...spec, template: { metadata, spec: change(template.spec) } } };
}

/** Returns a Service in front of the pods with the label `app: NAME`; ports by name. */
export function serviceOf(name: string, ports: Readonly<Record<string, number>>): KubeObject {
  const portList = Object.entries(ports).map(([portName, port]) => ({ name: portName, port, targetPort: port }));
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { selector: { app: name }, ports: portList } };
}

/** Returns a ConfigMap. */
export function configMapOf(name: string, data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

/** Reports whether a condition of a pod, a Job ... is true: `hasCondition(pod, "Ready")`. */
export function hasCondition(
  { status }: { readonly status: { readonly conditions?: readonly Condition[] } },
  type: string,
): boolean {
  return status.conditions?.some((each) => each.type === type && each.status === "True") === true;
}

/** Returns the status of a container, ordinary, init or ephemeral; undefined if it has none yet. */
export function statusOf({ status }: Pod, container: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return all.find(({ name }) => name === container);
}

/** Returns the exit code of a container; undefined if it has not ended. */
export function exitCodeOf(pod: Pod, container: string): number | undefined {
  return statusOf(pod, container)?.state.terminated?.exitCode;
}
