import type { Requirement } from "../../core/cli/cluster/label-selector.ts";
import { COMPONENT_LABEL, NAME_LABEL } from "../../core/cluster/installed.ts";
import type { MethodKind } from "../../core/reap/methods.ts";

/** What is installed in a cluster, where, and under which names: the options of `ebb manifests`. */
export interface Installation {
  /** What all names begin with. */
  readonly name: string;
  /**
   * A namespace that exists already, and stays; undefined if each component gets one of its own, which goes with it.
   */
  readonly namespace: string | undefined;
  /** The version of ebb, for labels. */
  readonly version: string;
  readonly image: string;
  readonly imagePullPolicy: string | undefined;
  readonly imagePullSecrets: readonly string[];
  readonly replicas: number;
  readonly priorityClass: string | undefined;
  readonly networkPolicy: boolean;
  readonly podMonitor: boolean;
  readonly certManager: boolean;
  readonly failurePolicy: "Ignore" | "Fail";
  readonly timeoutSeconds: number;
  /** Pods get ebb without asking for it (--all). */
  readonly all: boolean;
  /** What pods must match for the webhook to be asked about them. */
  readonly selector: readonly Requirement[];
  /** What their namespaces must match for that. */
  readonly namespaceSelector: readonly Requirement[];
  /** Milliseconds that the webhook's certificate is valid. */
  readonly certificateValidity: number;
  /** Milliseconds that its CA is valid. */
  readonly caValidity: number;
  /** The most bytes of a request to the webhook: its memory limit follows from that. */
  readonly maxRequestBytes: number;
  /** The webhook may ask a registry, or a mirror. */
  readonly asksRegistries: boolean;
  /** The webhook reads the Secrets that pods name to pull their images. */
  readonly pullSecrets: boolean;
  /** The Secret in the webhook's namespace with its own credentials for registries (dockerconfigjson). */
  readonly registrySecret: string | undefined;
  /** The ConfigMap there with the CAs of registries (`ca.crt`). */
  readonly registryCaConfigMap: string | undefined;
  /** Flags that are passed on to the webhook. */
  readonly passedOn: readonly string[];
  /** Flags that are passed on to a webhook with a CA of its own. */
  readonly ofOwnCa: readonly string[];
  /** Flags that are passed on to the reaper. */
  readonly toReaper: readonly string[];
  /** The namespaces in which the reaper looks; empty: all. */
  readonly reapNamespaces: readonly string[];
  /** How the reaper may end sidecars. */
  readonly methods: readonly MethodKind[];
  /** The reaper only reads, and says what it would do. */
  readonly dryRun: boolean;
  /** When the reaper runs as a CronJob (cron syntax); undefined if it watches, as a Deployment. */
  readonly schedule: string | undefined;
}

/** What can be installed. */
export type Component = "webhook" | "reaper";

/** An object of Kubernetes, as it is written in a manifest. */
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

/**
 * An object and the comments that are printed with it: `about` at its top, `notes` before fields, by their paths
 * (`spec.replicas`).
 */
export interface Manifest {
  readonly about?: string;
  readonly object: KubernetesObject;
  readonly notes?: Readonly<Record<string, string>>;
}

/** Returns the name of a component's objects, in its namespace and in the cluster: `ebb-webhook`. */
export function nameOf({ name }: Installation, component: Component): string {
  return `${name}-${component}`;
}

/** Returns the namespace of a component. */
export function namespaceOf(installation: Installation, component: Component): string {
  return installation.namespace ?? nameOf(installation, component);
}

/** Returns the name of the Secret with the webhook's certificate. cert-manager's is another one: it outlives an upgrade. */
export function secretOf(installation: Installation): string {
  return `${nameOf(installation, "webhook")}-${installation.certManager ? "tls" : "certificates"}`;
}

/**
 * Returns the labels that select a component's pods. A selector cannot be changed later, so no version is among them.
 */
export function selectorOf({ name }: Installation, component: Component): Labels {
  return {
    [NAME_LABEL]: "ebb",
    "app.kubernetes.io/instance": name,
    [COMPONENT_LABEL]: component,
  };
}

/** Returns the metadata of a component's object in its namespace. */
export function metadataIn(installation: Installation, component: Component): Metadata {
  const { name, labels } = metadataOf(installation, component);
  return { name, namespace: namespaceOf(installation, component), labels };
}

/** Returns the metadata of a component's object that has no namespace. */
export function metadataOf(installation: Installation, component: Component): Metadata {
  const labels = { ...selectorOf(installation, component), "app.kubernetes.io/version": installation.version };
  return { name: nameOf(installation, component), labels };
}
