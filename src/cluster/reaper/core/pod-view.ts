import { kindOf, sidecarNames } from "../../../shared/sidecars/core/registry.ts";
import type { Container, ContainerStatus, EnvVar, KubeState, Pod, RestartRule, Texts } from "../../api/core/objects.ts";
import { timeOf } from "../../core/time.ts";
import { STATUS } from "../../inject/core/annotation-names.ts";
import { EBB_FOLDER } from "../../inject/core/facts/command.ts";
import { type Presence, presenceOf } from "../../inject/core/presence.ts";

/** The label or annotation of a pod, and the label of a namespace, by which the reaper selects pods or keeps off. */
export const REAP = "ebb.dev/reap";
/** What the names of the reaper's ephemeral containers begin with. */
export const EPHEMERAL_PREFIX = "ebb-reaper-";

/** A pod. Another one may take its name, but not its UID. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * What the rules, the methods and the metrics read of a pod, and no more: the reaper keeps one for each pod of the
 * cluster. Containers are sorted by name, so that their order does not count.
 */
export interface PodView extends PodRef {
  /** The value of its label ebb.dev/reap. */
  readonly label: string | undefined;
  /** Those that ebb or a sidecar's injector reads. */
  readonly annotations: ReadonlyMap<string, string>;
  /** Whether ebb is in it. */
  readonly ebb: Presence;
  readonly isDeleted: boolean;
  /** The name of the Job that controls it. */
  readonly job: string | undefined;
  /** It is the kubelet's own, from a file on the node. The API server mirrors it, and cannot change it. */
  readonly isStatic: boolean;
  readonly hasHostNetwork: boolean;
  readonly restartPolicy: string;
  readonly phase: string | undefined;
  readonly statusReason: string | undefined;
  /** All its containers are being started again (Kubernetes 1.35, RestartAllContainers). */
  readonly isRestarting: boolean;
  readonly containers: readonly ContainerView[];
  readonly initContainers: readonly ContainerView[];
  readonly ephemeralContainers: readonly ContainerView[];
}

/** What the reaping of a pod depends on in one container. */
export interface ContainerView {
  readonly name: string;
  readonly image: string | undefined;
  /** Of the reaper's own ephemeral containers alone. */
  readonly args: readonly string[];
  readonly state: ContainerState;
  /** As it is written for this container; undefined if the pod's counts. */
  readonly restartPolicy: string | undefined;
  readonly restartRules: readonly RestartRule[];
  /** Those by which ebb finds a sidecar, as the manifest has them. The values of others may be secret. */
  readonly variables: readonly EnvVar[];
  /** ebb is mounted there. */
  readonly hasEbb: boolean;
  /** Whoever runs a command in it controls the node. */
  readonly isPrivileged: boolean;
}

/** A container's state, from the pod's status. */
export type ContainerState =
  | { readonly kind: "running" }
  | { readonly kind: "waiting"; readonly reason: string; readonly message: string | undefined }
  | {
      readonly kind: "terminated";
      readonly exitCode: number;
      readonly reason: string;
      readonly message: string | undefined;
      /** Milliseconds since the epoch, by the node's clock. */
      readonly finishedAt: number;
    }
  /** No state is set, or an end without its time. */
  | { readonly kind: "unknown" };

/** Returns what is read of a pod. */
export function viewOf({ metadata, spec, status = {} }: Pod): PodView {
  const { annotations = {}, ownerReferences: owners = [] } = metadata;
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    label: metadata.labels?.[REAP],
    annotations: annotationsIn(annotations),
    ebb: presenceOf({ metadata, spec }),
    isDeleted: metadata.deletionTimestamp !== undefined,
    job: owners.find((one) => one.kind === "Job" && one.controller && one.apiVersion.startsWith("batch/"))?.name,
    isStatic: MIRROR in annotations || owners.some(({ kind }) => kind === "Node"),
    hasHostNetwork: spec.hostNetwork === true,
    restartPolicy: spec.restartPolicy ?? "Always",
    phase: status.phase,
    statusReason: status.reason,
    isRestarting: status.conditions?.some((one) => one.type === RESTART && one.status === "True") ?? false,
    containers: containersIn(spec.containers, status.containerStatuses),
    initContainers: containersIn(spec.initContainers, status.initContainerStatuses),
    ephemeralContainers: containersIn(spec.ephemeralContainers, status.ephemeralContainerStatuses),
  };
}

const MIRROR = "kubernetes.io/config.mirror";
const RESTART = "AllContainersRestarting";
const kinds = sidecarNames.map(kindOf);
const annotationPrefixes = ["ebb.dev/", ...kinds.flatMap((kind) => kind.annotationPrefixes)];
const variablePrefixes = kinds.flatMap((kind) => kind.variablePrefixes ?? []);
/** Shared by all pods, most of which have none. */
const none = { annotations: new Map<string, string>(), list: [] } as const;

/** Returns the annotations that are read. */
function annotationsIn(all: Texts): ReadonlyMap<string, string> {
  const read = Object.entries(all).filter(([name]) => name !== STATUS && startsWithOne(name, annotationPrefixes));
  return read.length === 0 ? none.annotations : new Map(read);
}

function startsWithOne(name: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => name.startsWith(prefix));
}

function containersIn(
  specs: readonly Container[] = none.list,
  statuses: readonly ContainerStatus[] = none.list,
): readonly ContainerView[] {
  const byName = new Map(statuses.map(({ name, state }) => [name, state]));
  const views = specs.map((each) => containerIn(each, byName.get(each.name)));
  return views.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function containerIn(spec: Container, state: KubeState | undefined): ContainerView {
  const { name, args = none.list, env = none.list, restartPolicyRules: restartRules = none.list } = spec;
  const variables = env.filter((one) => startsWithOne(one.name, variablePrefixes));
  return {
    name,
    image: spec.image,
    args: name.startsWith(EPHEMERAL_PREFIX) ? args : none.list,
    state: stateOf(state),
    restartPolicy: spec.restartPolicy,
    restartRules,
    variables: variables.length === 0 ? none.list : variables,
    isPrivileged: spec.securityContext?.privileged === true,
    hasEbb: spec.volumeMounts?.some(({ mountPath }) => mountPath === EBB_FOLDER) ?? false,
  };
}

/** Reads a container's state, of which Kubernetes sets one of three, or none. */
function stateOf({ running, waiting, terminated }: KubeState = {}): ContainerState {
  if (running) return { kind: "running" };
  if (waiting) return { kind: "waiting", reason: waiting.reason ?? "no reason", message: waiting.message };
  const finishedAt = timeOf(terminated?.finishedAt);
  if (terminated === undefined || finishedAt === undefined) return { kind: "unknown" };
  const { exitCode, reason = "", message } = terminated;
  return { kind: "terminated", exitCode, reason, message, finishedAt };
}
