import { isObject, type JsonObject, listOf, objectOf, textOf } from "../../../shared/core/json.ts";
import type { RestartCodes } from "../../../shared/core/restart.ts";
import { kindOf, sidecarNames } from "../../../shared/sidecars/core/registry.ts";
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
  /**
   * Why Kubernetes cannot have written this of a pod that runs, or why ebb does not understand it; undefined if all is
   * well.
   */
  readonly problem: string | undefined;
}

/** What the reaping of a pod depends on in one container. */
export interface ContainerView {
  readonly name: string;
  readonly image: string | undefined;
  /** Of the reaper's own ephemeral containers alone. */
  readonly args: readonly unknown[];
  readonly state: ContainerState;
  /** As it is written for this container; undefined if the pod's counts. */
  readonly restartPolicy: string | undefined;
  readonly restartRules: readonly RestartRule[];
  /** Those by which ebb finds a sidecar, as the manifest has them. The values of others may be secret. */
  readonly variables: readonly JsonObject[];
  /** ebb is mounted there. */
  readonly hasEbb: boolean;
  /** Whoever runs a command in it controls the node. */
  readonly isPrivileged: boolean;
}

/** A container's state, from the pod's status. */
export type ContainerState =
  | { readonly kind: "running" }
  | { readonly kind: "waiting"; readonly reason: string; readonly message?: string }
  | {
      readonly kind: "terminated";
      readonly exitCode: number;
      readonly reason: string;
      readonly message?: string;
      /** Milliseconds since the epoch, by the node's clock. */
      readonly finishedAt: number;
    }
  /** No state is set, or none that ebb understands. */
  | { readonly kind: "unknown" };

/** A rule about restarts after certain exit codes (Kubernetes 1.34: k8s.io/api core/v1, ContainerRestartRule). */
export interface RestartRule extends RestartCodes {
  readonly action: string | undefined;
}

/**
 * Reads a pod's JSON. Accepts any, and never throws: a field that is missing or malformed is undefined or empty, and what
 * matters is told by `problem`.
 */
export function viewOf(pod: unknown): PodView {
  const { metadata, spec, status } = objectOf(pod);
  const { name, namespace, uid, labels, annotations, deletionTimestamp, ownerReferences } = objectOf(metadata);
  const { restartPolicy, containers, initContainers, ephemeralContainers, hostNetwork } = objectOf(spec);
  const { phase, reason, conditions, containerStatuses, initContainerStatuses, ephemeralContainerStatuses } =
    objectOf(status);
  const owners = listOf(ownerReferences).map(objectOf);
  return {
    name: textOf(name) ?? "",
    namespace: textOf(namespace) ?? "",
    uid: textOf(uid) ?? "",
    label: textOf(objectOf(labels)[REAP]),
    annotations: annotationsIn(objectOf(annotations)),
    ebb: presenceOf(objectOf(pod)),
    isDeleted: deletionTimestamp !== undefined && deletionTimestamp !== null,
    job: textOf(owners.find(isJob)?.name),
    isStatic: textOf(objectOf(annotations)[MIRROR]) !== undefined || owners.some(({ kind }) => kind === "Node"),
    hasHostNetwork: hostNetwork === true,
    restartPolicy: textOf(restartPolicy) ?? "Always",
    phase: textOf(phase),
    statusReason: textOf(reason),
    isRestarting: listOf(conditions).map(objectOf).some(isRestart),
    containers: containersIn(containers, containerStatuses),
    initContainers: containersIn(initContainers, initContainerStatuses),
    ephemeralContainers: containersIn(ephemeralContainers, ephemeralContainerStatuses),
    problem: problemOf(objectOf(metadata), objectOf(spec), status),
  };
}

const MIRROR = "kubernetes.io/config.mirror";
const kinds = sidecarNames.map(kindOf);
const annotationPrefixes = ["ebb.dev/", ...kinds.flatMap((kind) => kind.annotationPrefixes)];
const variablePrefixes = kinds.flatMap((kind) => kind.variablePrefixes ?? []);
/** Shared by all pods, most of which have none. */
const none = { annotations: new Map<string, string>(), list: [] } as const;

/** Returns the annotations that are read and whose values are texts, as Kubernetes' are. */
function annotationsIn(all: JsonObject): ReadonlyMap<string, string> {
  const read = Object.entries(all).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return typeof value === "string" && name !== STATUS && startsWithOne(name, annotationPrefixes);
  });
  return read.length === 0 ? none.annotations : new Map(read);
}

function startsWithOne(name: unknown, prefixes: readonly string[]): boolean {
  return typeof name === "string" && prefixes.some((prefix) => name.startsWith(prefix));
}

function isJob({ kind, apiVersion, controller }: JsonObject): boolean {
  return kind === "Job" && controller === true && (textOf(apiVersion) ?? "").startsWith("batch/");
}

function isRestart({ type, status }: JsonObject): boolean {
  return type === "AllContainersRestarting" && status === "True";
}

function problemOf(metadata: JsonObject, spec: JsonObject, status: unknown): string | undefined {
  for (const field of ["name", "namespace", "uid"]) {
    if (typeof metadata[field] !== "string" || metadata[field] === "") return `it has no metadata.${field}`;
  }
  if (!Array.isArray(spec.containers)) return "it has no spec.containers";
  const names = [spec.containers, spec.initContainers].flatMap(listOf).map((each) => objectOf(each).name);
  if (names.some((name) => typeof name !== "string" || name === "")) return "it has a container without a name";
  if (new Set(names).size < names.length) return "it has two containers of one name";
  return isObject(status) ? undefined : "it has no status";
}

function containersIn(specs: unknown, statuses: unknown): readonly ContainerView[] {
  const byName = new Map(listOf(statuses).map((each) => [objectOf(each).name, objectOf(each)]));
  const views = listOf(specs).map((each) => containerIn(objectOf(each), byName));
  return views.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function containerIn(spec: JsonObject, statuses: ReadonlyMap<unknown, JsonObject>): ContainerView {
  const { state } = statuses.get(spec.name) ?? {};
  const name = textOf(spec.name) ?? "";
  const isMount = (mount: unknown) => objectOf(mount).mountPath === EBB_FOLDER;
  return {
    name,
    image: textOf(spec.image),
    args: name.startsWith(EPHEMERAL_PREFIX) ? listOf(spec.args) : none.list,
    state: stateOf(objectOf(state)),
    restartPolicy: textOf(spec.restartPolicy),
    restartRules: mapped(listOf(spec.restartPolicyRules), ruleOf),
    variables: mapped(listOf(spec.env).filter(isObject).filter(isVariable), (variable) => variable),
    isPrivileged: objectOf(spec.securityContext).privileged === true,
    hasEbb: listOf(spec.volumeMounts).some(isMount),
  };
}

function isVariable({ name }: JsonObject): boolean {
  return startsWithOne(name, variablePrefixes);
}

function mapped<T, U>(list: readonly T[], change: (item: T) => U): readonly U[] {
  return list.length === 0 ? none.list : list.map(change);
}

function ruleOf(rule: unknown): RestartRule {
  const { action, exitCodes } = objectOf(rule);
  const { operator, values } = objectOf(exitCodes);
  return { action: textOf(action), operator: textOf(operator), exitCodes: listOf(values) };
}

/**
 * Reads a container's state, of which Kubernetes sets one of three. An end without its code or its time is `unknown`.
 */
function stateOf({ running, waiting, terminated }: JsonObject): ContainerState {
  if (isObject(running)) return { kind: "running" };
  if (isObject(waiting)) {
    return { kind: "waiting", reason: textOf(waiting.reason) ?? "no reason", ...messageOf(waiting) };
  }
  if (!isObject(terminated)) return { kind: "unknown" };
  const { exitCode, reason } = terminated;
  const finishedAt = timeOf(terminated.finishedAt);
  if (typeof exitCode !== "number" || finishedAt === undefined) return { kind: "unknown" };
  return { kind: "terminated", exitCode, reason: textOf(reason) ?? "", finishedAt, ...messageOf(terminated) };
}

function messageOf({ message }: JsonObject): { readonly message?: string } {
  return typeof message === "string" && message !== "" ? { message } : {};
}
