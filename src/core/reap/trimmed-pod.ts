import { isObject, type JsonObject, listOf, objectOf } from "../base/json.ts";
import { EBB_FOLDER } from "../inject/container/command.ts";
import { kindOf, sidecarNames } from "../sidecars/registry.ts";
import { EPHEMERAL_PREFIX } from "./ephemeral.ts";

// Pods with only those fields on which their reaping depends (pod-view.ts). A watch over a whole cluster keeps all pods
// in memory.

/**
 * Returns a copy of a pod that has a tenth of its size and the same verdict. Variables by which ebb finds no sidecar
 * are left out, because their values may be secret.
 */
export function trimPod(pod: JsonObject): JsonObject {
  const { metadata, spec, status } = pod;
  return {
    metadata: leanMetadata(objectOf(metadata)),
    ...(isObject(spec) && { spec: leanSpec(spec) }),
    ...(isObject(status) && { status: leanStatus(status) }),
  };
}

const kinds = sidecarNames.map(kindOf);
const annotationPrefixes = kinds.flatMap((kind) => kind.annotationPrefixes);
const variablePrefixes = kinds.flatMap((kind) => kind.variablePrefixes ?? []);
const MIRROR = "kubernetes.io/config.mirror";
const metadataFields = ["name", "namespace", "uid", "deletionTimestamp"];
const specFields = ["restartPolicy", "hostNetwork"];
const statusFields = ["phase", "reason"];
const containerFields = ["name", "image", "restartPolicy", "restartPolicyRules"];
const containerLists = ["containers", "initContainers", "ephemeralContainers"];
const statusLists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
const ownerFields = ["apiVersion", "kind", "name", "controller"];

function leanMetadata(metadata: JsonObject): JsonObject {
  const { labels, annotations, ownerReferences } = metadata;
  return {
    ...pick(metadata, metadataFields),
    ...(isObject(labels) && { labels: only(labels, (name) => name.startsWith("ebb.dev/")) }),
    ...(isObject(annotations) && { annotations: only(annotations, isAsked) }),
    ...(Array.isArray(ownerReferences) && {
      ownerReferences: ownerReferences.map((owner) => pick(objectOf(owner), ownerFields)),
    }),
  };
}

/**
 * Reports whether the reaper reads this annotation: ebb's, or an injector's. The largest of the others is kubectl's
 * copy of the manifest.
 */
function isAsked(name: string): boolean {
  return name.startsWith("ebb.dev/") || annotationPrefixes.some((prefix) => name.startsWith(prefix)) || name === MIRROR;
}

function leanSpec(spec: JsonObject): JsonObject {
  return { ...pick(spec, specFields), ...each(spec, containerLists, leanContainer) };
}

function leanContainer(container: unknown): unknown {
  if (!isObject(container)) return container;
  const env = listOf(container.env).filter((variable) => isVariable(objectOf(variable).name));
  const mounts = listOf(container.volumeMounts).filter((mount) => objectOf(mount).mountPath === EBB_FOLDER);
  return {
    ...pick(container, isReapers(container) ? [...containerFields, "args"] : containerFields),
    ...(objectOf(container.securityContext).privileged === true && { securityContext: { privileged: true } }),
    ...(env.length > 0 && { env }),
    ...(mounts.length > 0 && { volumeMounts: mounts.map((mount) => pick(objectOf(mount), ["mountPath"])) }),
  };
}

/** Reports whether this ephemeral container is the reaper's, so that its arguments are kept. */
function isReapers({ name }: JsonObject): boolean {
  return typeof name === "string" && name.startsWith(EPHEMERAL_PREFIX);
}

/** Reports whether a sidecar may be found by this variable. */
function isVariable(name: unknown): boolean {
  return typeof name === "string" && variablePrefixes.some((prefix) => name.startsWith(prefix));
}

function leanStatus(status: JsonObject): JsonObject {
  const { conditions } = status;
  const restarting = listOf(conditions).filter((one) => objectOf(one).type === "AllContainersRestarting");
  return {
    ...pick(status, statusFields),
    ...(restarting.length > 0 && { conditions: restarting }),
    ...each(status, statusLists, (one) => (isObject(one) ? pick(one, ["name", "state"]) : one)),
  };
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])));
}

function only(object: JsonObject, isWanted: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => isWanted(name)));
}

function each(object: JsonObject, names: readonly string[], trim: (value: unknown) => unknown): JsonObject {
  const lists = names.filter((name) => object[name] !== undefined);
  return Object.fromEntries(
    lists.map((name) => [name, Array.isArray(object[name]) ? object[name].map(trim) : object[name]]),
  );
}
