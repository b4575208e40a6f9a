import type { RestartCodes } from "../../../shared/core/restart.ts";

// The API server's objects, as it has them, with the fields that ebb reads. It has checked their form; only the texts in
// them, which users write, may say anything.

/** Labels, annotations, or amounts. */
export type Texts = Readonly<Record<string, string>>;
type Named = Readonly<{ name: string }>;
type Owner = Readonly<{ apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }>;

export interface Metadata extends Named {
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly Owner[];
}

/** Any object. Fields that ebb does not know are kept. */
export type KubeObject = Readonly<{ metadata: Metadata }>;
type Namespaced = Readonly<{ metadata: Metadata & Readonly<{ namespace: string; uid: string }> }>;

/** What pods are made of. A pod is one, too. */
export type PodTemplate = Readonly<{ metadata?: Partial<Metadata>; spec: PodSpec }>;
export type Pod = Namespaced & Readonly<{ spec: PodSpec; status?: PodStatus }>;

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly restartPolicy?: string;
  readonly hostNetwork?: boolean;
}

export interface Container extends Named {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly volumeMounts?: readonly Readonly<{ mountPath: string }>[];
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly RestartRule[];
  readonly securityContext?: Readonly<{ privileged?: boolean }>;
  readonly resources?: Readonly<{ requests?: Texts; limits?: Texts }>;
}

export type EnvVar = Named & Readonly<{ value?: string }>;
/** A rule about restarts after certain exit codes (Kubernetes 1.34). */
export type RestartRule = Readonly<{ action: string; exitCodes?: RestartCodes }>;

interface Volume extends Named {
  readonly image?: Readonly<{ reference?: string }>;
  readonly secret?: Readonly<{ secretName?: string; optional?: boolean }>;
}

interface PodStatus extends Conditions {
  readonly phase?: string;
  readonly reason?: string;
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
}

type Reason = Readonly<{ reason?: string; message?: string }>;
type Condition = Reason & Readonly<{ type: string; status: string }>;
export type Conditions = Readonly<{ conditions?: readonly Condition[] }>;

export type ContainerStatus = Named & Readonly<{ restartCount: number; state?: KubeState; lastState?: KubeState }>;
type End = Reason & Readonly<{ exitCode: number; finishedAt?: string | null }>;
/** One is set, or none. */
export type KubeState = Readonly<{ running?: object; waiting?: Reason; terminated?: End }>;

/** What makes pods of a template: a Deployment, ReplicaSet, StatefulSet, DaemonSet or Job. Each has some of the fields. */
export interface Workload extends Namespaced {
  readonly spec: Readonly<{ replicas?: number; selector?: LabelSelector; template: PodTemplate }>;
  readonly status?: Conditions & Replicas & Runs;
}

type Counts<K extends string> = Readonly<Partial<Record<K, number>>>;
type Replicas = Counts<"replicas" | "readyReplicas" | "updatedReplicas" | "unavailableReplicas">;
type Runs = Counts<"active" | "succeeded" | "currentNumberScheduled" | "desiredNumberScheduled">;

export interface CronJob extends Namespaced {
  readonly spec: Readonly<{ schedule: string; suspend?: boolean; jobTemplate: Pick<Workload, "spec"> }>;
}

type Requirement = Readonly<{ key: string; operator: string; values?: readonly string[] }>;
export type LabelSelector = Readonly<{ matchLabels?: Texts; matchExpressions?: readonly Requirement[] }>;

export type Service = KubeObject & Readonly<{ spec: Readonly<{ selector?: Texts }> }>;

/** The values of `data` are base64. */
export type Secret = KubeObject & Readonly<{ type?: string; data?: Texts }>;

type Taint = Readonly<{ key: string; effect: string }>;
/** What a node does not tell is empty. */
export type NodeInfo = Readonly<Record<"operatingSystem" | "kubeletVersion" | "containerRuntimeVersion", string>>;
export interface Node extends KubeObject {
  readonly spec?: Readonly<{ taints?: readonly Taint[] }>;
  readonly status?: Readonly<{ nodeInfo?: NodeInfo }>;
}

/** An Event (core/v1). */
export interface KubeEvent extends KubeObject {
  readonly involvedObject: Readonly<{ kind: string; namespace: string; name: string; uid: string }>;
  readonly message?: string;
}

/** Which pods a webhook is called for. */
export type Selectors = Readonly<{ namespaceSelector?: LabelSelector; objectSelector?: LabelSelector }>;
/** A MutatingWebhookConfiguration. */
export type WebhookConfiguration = KubeObject & Readonly<{ webhooks?: readonly Webhook[] }>;

/** It is called by `service` or by `url`. */
export interface Webhook extends Named, Selectors {
  /** `caBundle` is PEM in base64. */
  readonly clientConfig: Readonly<{
    caBundle?: string;
    service?: Named & Readonly<{ namespace: string }>;
    url?: string;
  }>;
  readonly failurePolicy?: string;
}
