import { describePath, isObject, type JsonObject, listOf, objectOf, type Path, textOf, valueAt } from "../base/json.ts";
import { isEbbKey } from "./annotation-names.ts";
import type { Remark } from "./pod.ts";

/** A pod, or a pod template, inside an object of Kubernetes. */
export interface PodPlace {
  /** The object in messages: `Job shop/migrate`. */
  readonly object: string;
  /** The path to the pod in the document; empty if the document is the Pod. */
  readonly path: Path;
  readonly pod: JsonObject;
  /**
   * Annotations and labels of ebb on the object around the pod, which have no effect there. Fields are the document's.
   */
  readonly warnings: readonly Remark[];
}

/**
 * Returns the pods and pod templates of a document: of one object, or of all objects in a List. Returns an empty list
 * if there are none. Never throws.
 */
export function podsIn(document: unknown): readonly PodPlace[] {
  return placesIn(document, []);
}

/** Formats a remark for a message: the object, the field as the document has it, the message. */
export function describeRemark({ object, path }: PodPlace, { field, message }: Remark): string {
  return `${object}: ${fieldIn(path, field)}: ${message}`;
}

/**
 * Returns a pod's field as the document has it (`spec.template.spec.containers[0].command`). `path` leads to the pod.
 */
export function fieldIn(path: Path, field: string): string {
  return [describePath(path), field].filter((part) => part !== "").join(".");
}

/**
 * Where most kinds have their template: Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job,
 * Argo's Rollout, Knative's Service, ...
 */
const TEMPLATE: Path = ["spec", "template"];

const templates: ReadonlyMap<string, Path> = new Map([
  ["CronJob", ["spec", "jobTemplate", "spec", "template"]],
  ["PodTemplate", ["template"]],
]);

function placesIn(value: unknown, path: Path): readonly PodPlace[] {
  if (!isObject(value)) return [];
  const kind = textOf(value.kind) ?? "";
  if (kind.endsWith("List") && Array.isArray(value.items)) {
    return listOf(value.items).flatMap((item, at) => placesIn(item, [...path, "items", at]));
  }
  const inner = kind === "Pod" ? [] : (templates.get(kind) ?? TEMPLATE);
  const pod = valueAt(value, inner);
  if (!isObject(pod) || !(kind === "Pod" || hasContainers(pod))) return [];
  return [
    {
      object: nameOf(value),
      path: [...path, ...inner],
      pod,
      warnings: inner.length === 0 ? [] : misplaced(value, { path, inner }),
    },
  ];
}

/** Reports whether a template has a list of containers. An object of any kind that has such a template counts. */
function hasContainers(template: JsonObject): boolean {
  return Array.isArray(objectOf(template.spec).containers);
}

/** `Job shop/migrate`, `Deployment web`, `Pod batch-*`. */
function nameOf({ kind, metadata }: JsonObject): string {
  const { name, generateName, namespace } = objectOf(metadata);
  const own = textOf(name) ?? (textOf(generateName) === undefined ? "(without a name)" : `${generateName}*`);
  const place = textOf(namespace);
  return `${textOf(kind) ?? "(without a kind)"} ${place === undefined ? own : `${place}/${own}`}`;
}

/**
 * Warns of annotations and labels on the workload itself, or on a CronJob's template of Jobs: Kubernetes does not copy
 * these to pods.
 */
function misplaced(object: JsonObject, { path, inner }: { path: Path; inner: Path }): readonly Remark[] {
  const message = `ignored here: move it to ${describePath([...inner, "metadata", "annotations"])}`;
  const outer = inner.flatMap((_, at) => (at % 2 === 0 ? [inner.slice(0, at)] : []));
  return outer.flatMap((place) => {
    const { annotations, labels } = objectOf(objectOf(valueAt(object, place)).metadata);
    const own = Object.entries({ annotations, labels }).flatMap(([where, all]) =>
      Object.keys(objectOf(all)).map((name) => ({ where, name })),
    );
    return own
      .filter(({ name }) => isEbbKey(name))
      .map(({ where, name }) => ({
        field: describePath([...path, ...place, "metadata", `${where}[${name}]`]),
        message,
      }));
  });
}
