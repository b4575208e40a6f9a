import type { Requirement } from "../../core/cli/cluster/label-selector.ts";
import type { MethodKind } from "../../core/reap/methods.ts";

/** What is installed in a cluster, where, and under which names. */
export interface Installation {
  /** What all names begin with. */
  readonly name: string;
  /** One that exists already, and stays. undefined: each component has one of its own, which goes with it. */
  readonly namespace: string | undefined;
  readonly version: string;
  readonly image: string;
  readonly imagePullPolicy: string | undefined;
  readonly imagePullSecrets: readonly string[];
  readonly replicas: number;
  readonly priorityClass: string | undefined;
  readonly networkPolicy: boolean;
  readonly certManager: boolean;
  readonly failurePolicy: "Ignore" | "Fail";
  readonly timeoutSeconds: number;
  readonly all: boolean;
  readonly selector: readonly Requirement[];
  readonly namespaceSelector: readonly Requirement[];
  /** How long, in milliseconds. */
  readonly certificateValidity: number;
  readonly caValidity: number;
  /** Of a request to the webhook: its memory limit follows from that. */
  readonly maxRequestBytes: number;
  /** Flags of `ebb manifests` that are the webhook's, too; the second, of its own CA; the third, the reaper's. */
  readonly passedOn: readonly string[];
  readonly ofOwnCa: readonly string[];
  readonly toReaper: readonly string[];
  /** Where the reaper looks; none: everywhere. */
  readonly reapNamespaces: readonly string[];
  readonly methods: readonly MethodKind[];
  readonly dryRun: boolean;
  /** When it does, in a CronJob; undefined: it watches. */
  readonly schedule: string | undefined;
}

export type Component = "webhook" | "reaper";

/** An object of Kubernetes as it is written down. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels: Labels;
  readonly annotations?: Labels;
}

export type Labels = Readonly<Record<string, string>>;

/** An object, and what its reader should know of it: at its top, and before fields (`spec.replicas`). */
export interface Manifest {
  readonly about?: string;
  readonly object: KubernetesObject;
  readonly notes?: Readonly<Record<string, string>>;
}

/** Returns the name of a component's objects, in its namespace and in the cluster. */
export function nameOf({ name }: Installation, component: Component): string {
  return `${name}-${component}`;
}

/** Returns the namespace of a component. */
export function namespaceOf(installation: Installation, component: Component): string {
  return installation.namespace ?? nameOf(installation, component);
}

/** Returns the name of the Secret with the webhook's certificate. */
export function secretOf(installation: Installation): string {
  return `${nameOf(installation, "webhook")}-certificates`;
}

/** Returns the labels that select a component's pods. A selector cannot be changed later, so no version is in it. */
export function selectorOf({ name }: Installation, component: Component): Labels {
  return {
    "app.kubernetes.io/name": "ebb",
    "app.kubernetes.io/instance": name,
    "app.kubernetes.io/component": component,
  };
}

/** Returns `metadata` for a component's object in its namespace. */
export function metadataIn(installation: Installation, component: Component): Metadata {
  const { name, labels } = metadataOf(installation, component);
  return { name, namespace: namespaceOf(installation, component), labels };
}

/** Returns `metadata` for a component's object without a namespace. */
export function metadataOf(installation: Installation, component: Component): Metadata {
  const labels = { ...selectorOf(installation, component), "app.kubernetes.io/version": installation.version };
  return { name: nameOf(installation, component), labels };
}
