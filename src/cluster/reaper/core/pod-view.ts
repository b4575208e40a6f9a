import { isObject, type JsonObject, listOf, objectOf, textOf } from "../../../shared/core/json.ts";
import type { RestartCodes } from "../../../shared/core/restart.ts";
import { timeOf } from "../../core/time.ts";

/**
 * What the reaping of a pod depends on, read from any JSON. Containers are sorted by name, so that their order does not
 * count.
 */
export interface PodView {
  readonly name: string | undefined;
  readonly namespace: string;
  readonly uid: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
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
  readonly args: readonly unknown[];
  readonly state: ContainerState;
  /** As it is written for this container; undefined if the pod's counts. */
  readonly restartPolicy: string | undefined;
  readonly restartRules: readonly RestartRule[];
  /** The variables whose values are in the manifest. */
  readonly env: ReadonlyMap<string, string>;
  /** All variables, as the manifest has them. */
  readonly variables: readonly JsonObject[];
  readonly mountPaths: readonly string[];
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
 * Reads from a pod's JSON what the reaper's rules look at. Accepts any JSON, and never throws: a field that is missing
 * or malformed is undefined or empty, and what matters is told by `problem`.
 */
export function viewOf(pod: unknown): PodView {
  const { metadata, spec, status } = objectOf(pod);
  const { name, namespace, uid, labels, annotations, deletionTimestamp, ownerReferences } = objectOf(metadata);
  const { restartPolicy, containers, initContainers, ephemeralContainers, hostNetwork } = objectOf(spec);
  const { phase, reason, conditions, containerStatuses, initContainerStatuses, ephemeralContainerStatuses } =
    objectOf(status);
  const owners = listOf(ownerReferences).map(objectOf);
  const written = textsIn(annotations);
  return {
    name: textOf(name),
    namespace: textOf(namespace) ?? "",
    uid: textOf(uid),
    labels: textsIn(labels),
    annotations: written,
    isDeleted: deletionTimestamp !== undefined && deletionTimestamp !== null,
    job: textOf(owners.find(isJob)?.name),
    isStatic: written.has("kubernetes.io/config.mirror") || owners.some(({ kind }) => kind === "Node"),
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

/** Returns the fields whose values are texts, as Kubernetes' labels and annotations are. */
function textsIn(object: unknown): ReadonlyMap<string, string> {
  const entries = Object.entries(objectOf(object));
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function containersIn(specs: unknown, statuses: unknown): readonly ContainerView[] {
  const byName = new Map(listOf(statuses).map((each) => [objectOf(each).name, objectOf(each)]));
  const views = listOf(specs).map((each) => containerIn(objectOf(each), byName));
  return views.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function containerIn(spec: JsonObject, statuses: ReadonlyMap<unknown, JsonObject>): ContainerView {
  const { state } = statuses.get(spec.name) ?? {};
  const variables = listOf(spec.env).filter(isObject);
  const valued = variables.filter(({ name, value }) => typeof name === "string" && typeof value === "string");
  return {
    name: textOf(spec.name) ?? "",
    image: textOf(spec.image),
    args: listOf(spec.args),
    state: stateOf(objectOf(state)),
    restartPolicy: textOf(spec.restartPolicy),
    restartRules: listOf(spec.restartPolicyRules).map(ruleOf),
    env: new Map(valued.map(({ name, value }) => [name as string, value as string])),
    variables,
    isPrivileged: objectOf(spec.securityContext).privileged === true,
    mountPaths: listOf(spec.volumeMounts).flatMap((mount) => textOf(objectOf(mount).mountPath) ?? []),
  };
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
