import { isObject, type JsonObject, listOf, objectOf } from "../../../shared/core/json.ts";
import { kindOf, sidecarNames } from "../../../shared/sidecars/core/registry.ts";
import { EBB_FOLDER } from "../../inject/core/facts/command.ts";
import { EPHEMERAL_PREFIX } from "./ephemeral.ts";

// Pods with only those fields on which their reaping depends (pod-view.ts). A watch over a whole cluster keeps all pods
// in memory.

/** What is kept of a value: of an object these fields, and of a list the same of each item; or what a function returns. */
type Kept = true | { readonly [field: string]: Kept } | ((value: unknown) => unknown);

const kinds = sidecarNames.map(kindOf);
const annotationPrefixes = ["ebb.dev/", ...kinds.flatMap((kind) => kind.annotationPrefixes)];
const variablePrefixes = kinds.flatMap((kind) => kind.variablePrefixes ?? []);
const MIRROR = "kubernetes.io/config.mirror";

const container: Kept = {
  ...fields("name", "image", "restartPolicy", "restartPolicyRules"),
  securityContext: (value) => (objectOf(value).privileged === true ? { privileged: true } : undefined),
  env: (value) => some(value, ({ name }) => startsWithOne(name, variablePrefixes)),
  volumeMounts: (value) =>
    keep(
      some(value, ({ mountPath }) => mountPath === EBB_FOLDER),
      fields("mountPath"),
    ),
};
const withArguments: Kept = { ...container, args: true };
const state: Kept = fields("name", "state");
const kept: Kept = {
  metadata: {
    ...fields("name", "namespace", "uid", "deletionTimestamp"),
    labels: (value) => named(value, (name) => name.startsWith("ebb.dev/")),
    // the largest of the other annotations is kubectl's copy of the manifest
    annotations: (value) => named(value, (name) => startsWithOne(name, annotationPrefixes) || name === MIRROR),
    ownerReferences: fields("apiVersion", "kind", "name", "controller"),
  },
  spec: {
    ...fields("restartPolicy", "hostNetwork"),
    containers: container,
    initContainers: container,
    ephemeralContainers: (value) =>
      Array.isArray(value) ? value.map((each) => keep(each, isReapers(each) ? withArguments : container)) : value,
  },
  status: {
    ...fields("phase", "reason"),
    conditions: (value) => some(value, ({ type }) => type === "AllContainersRestarting"),
    containerStatuses: state,
    initContainerStatuses: state,
    ephemeralContainerStatuses: state,
  },
};

/**
 * Returns a copy of a pod that has a tenth of its size and the same verdict. Variables by which ebb finds no sidecar
 * are left out, because their values may be secret.
 */
export function trimPod(pod: JsonObject): JsonObject {
  return { metadata: {}, ...objectOf(keep(pod, kept)) };
}

function keep(value: unknown, what: Kept): unknown {
  if (what === true) return value;
  if (typeof what === "function") return what(value);
  if (Array.isArray(value)) return value.map((each) => keep(each, what));
  if (!isObject(value)) return value;
  const left: Record<string, unknown> = {};
  for (const field in what) {
    const each = keep(value[field], what[field] as Kept);
    if (each !== undefined) left[field] = each;
  }
  return left;
}

function fields(...names: readonly string[]): { readonly [field: string]: true } {
  return Object.fromEntries(names.map((name) => [name, true]));
}

/** Returns the items of a list that are wanted; undefined if there are none. */
function some(list: unknown, isWanted: (item: JsonObject) => boolean): readonly unknown[] | undefined {
  const wanted = listOf(list).filter((item) => isWanted(objectOf(item)));
  return wanted.length === 0 ? undefined : wanted;
}

function named(object: unknown, isWanted: (name: string) => boolean): JsonObject | undefined {
  if (!isObject(object)) return undefined;
  return Object.fromEntries(Object.entries(object).filter(([name]) => isWanted(name)));
}

function startsWithOne(name: unknown, prefixes: readonly string[]): boolean {
  return typeof name === "string" && prefixes.some((prefix) => name.startsWith(prefix));
}

/** Reports whether this ephemeral container is the reaper's, so that its arguments are kept. */
function isReapers(value: unknown): boolean {
  return startsWithOne(objectOf(value).name, [EPHEMERAL_PREFIX]);
}
