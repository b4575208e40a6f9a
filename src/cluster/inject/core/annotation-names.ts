import { type JsonObject, textOf } from "../../../shared/core/json.ts";

/** The prefix of all annotations and labels that are ebb's. */
export const PREFIX = "ebb.dev/";
/** The annotation by which a pod asks for ebb, or keeps it out; also the label by which a namespace does. */
export const ASK = "ebb.dev/inject";
/** The annotation that records what ebb has put into a pod, so that it can be renewed or taken out. */
export const STATUS = "ebb.dev/status";
/** Cluster Autoscaler's annotation: the emptyDirs that do not keep a pod on its node. */
export const LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";
/** The name of the init container that copies ebb; with a number behind it if the pod has a container of that name. */
export const INSTALL = "ebb-install";
/** The names of the volumes with ebb, and with the pod's annotations; numbered, too. */
export const VOLUME = "ebb";
export const ANNOTATIONS = "ebb-annotations";
/** The name of the volume by which the app containers of a pod know of each other; numbered, too. */
export const APPS = "ebb-apps";

/** Reports whether a name is `base`, or `base` with the number that ebb adds if that name is taken. */
export function isNumbered(name: string, base: string): boolean {
  const rest = name.startsWith(base) ? name.slice(base.length) : undefined;
  return rest !== undefined && /^(-\d+)?$/.test(rest);
}

/** Returns a test of a container or volume for this name, or for one that is numbered so. */
export function isNamed(base: string): (one: { readonly name?: unknown }) => boolean {
  return ({ name }) => isNumbered(textOf(name) ?? "", base);
}

/** Reports whether an annotation or a label is ebb's, by its name. */
export function isEbbKey(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** Formats an annotation's path for messages: `metadata.annotations[ebb.dev/inject]`. */
export function annotationField(name: string): string {
  return `metadata.annotations[${name}]`;
}

/**
 * The most bytes that the names and values of an object's annotations may have (apimachinery, pkg/api/validation,
 * TotalAnnotationSizeLimitB).
 */
const MOST_BYTES = 256 * 1024;

/** What Kubernetes refuses, for messages. */
export const TOO_LONG = `more than ${MOST_BYTES / 1024} KiB`;

/** Reports whether annotations are more than Kubernetes accepts. */
export function isTooLong(annotations: JsonObject): boolean {
  let bytes = 0;
  for (const [name, value] of Object.entries(annotations))
    bytes += Buffer.byteLength(name) + Buffer.byteLength(textOf(value) ?? "");
  return bytes > MOST_BYTES;
}
