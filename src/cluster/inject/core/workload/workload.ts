import {
  describePath,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  type Path,
  textOf,
  valueAt,
} from "../../../../shared/core/json.ts";
import { isEbbKey } from "../annotation-names.ts";
import type { Injection } from "../inject-pod.ts";
import type { Remark } from "../pod.ts";
import type { InjectPolicy } from "../policy.ts";
import { whyLeft } from "./other-kinds.ts";
import { type FoundTemplate, templatesIn } from "./pod-templates.ts";

/** Puts ebb into a pod, or takes it out. `place`: what its manifest says of it. Never throws. */
export type ChangePod = (pod: unknown, place: Pick<InjectPolicy, "setsCommand" | "writtenAt">) => Injection;

/** A pod, or a pod template, inside an object of Kubernetes. */
export interface FoundPod {
  /** The object in messages: `Job shop/migrate`. */
  readonly object: string;
  /** The path to the pod in the document; empty if the document is the Pod. */
  readonly path: Path;
  readonly pod: JsonObject;
  /** The restartPolicy that its controller gives the pod; undefined if the pod's own counts. */
  readonly restartPolicy: string | undefined;
  readonly setsCommand: FoundTemplate["setsCommand"];
  /**
   * Annotations and labels of ebb on the object around the pod, which have no effect there. Fields are the document's.
   */
  readonly warnings: readonly Remark[];
}

/** An object whose pods ebb does not change in a manifest. */
interface LeftObject {
  readonly object: string;
  /** The path to the object in the document. */
  readonly path: Path;
  /** Why, and what to do instead. */
  readonly reason: string;
}

/** Something else where an object of Kubernetes is expected: a text, a list. */
export interface NoObject {
  readonly path: Path;
  readonly found: unknown;
}

type Found = FoundPod | LeftObject | NoObject;

/**
 * Returns the pods and pod templates of a document: of one object, or of all objects in a List or a Template. Between
 * them are the objects that are left as they are, and what is no object. Never throws.
 */
export function objectsIn(document: unknown): readonly Found[] {
  return document === null ? [] : objectsFrom(document, []);
}

/**
 * Changes a pod as its controller makes it: with the restartPolicy that this gives it. The template keeps its own.
 * `writtenAt`: that of the policy.
 */
export function changeAt(
  { pod, restartPolicy, setsCommand }: FoundPod,
  changePod: ChangePod,
  writtenAt?: InjectPolicy["writtenAt"],
): Injection {
  const place = { setsCommand, writtenAt };
  if (restartPolicy === undefined) return changePod(pod, place);
  const { restartPolicy: own, ...spec } = objectOf(pod.spec);
  const injection = changePod({ ...pod, spec: { ...spec, restartPolicy } }, place);
  if (!("pod" in injection)) return injection;
  const { restartPolicy: _, ...changed } = injection.pod.spec;
  const restored = own === undefined ? changed : { ...changed, restartPolicy: own as string };
  return { ...injection, pod: { ...injection.pod, spec: restored } };
}

/** Formats a remark for a message: the object, the field as the document has it, the message. */
export function describeRemark({ object, path }: FoundPod, { field, message }: Remark): string {
  return `${object}: ${fieldIn(path, field)}: ${message}`;
}

/**
 * Returns a pod's field as the document has it (`spec.template.spec.containers[0].command`). `path` leads to the pod.
 */
function fieldIn(path: Path, field: string): string {
  return [describePath(path), field].filter((part) => part !== "").join(".");
}

function objectsFrom(value: unknown, path: Path, list?: JsonObject): readonly Found[] {
  if (!isObject(value)) return [{ path, found: value }];
  const typed = typedBy(list, value);
  const field = listFieldOf(typed);
  if (field !== undefined)
    return listOf(typed[field]).flatMap((item, at) => objectsFrom(item, [...path, field, at], typed));
  const object = nameOf(typed);
  const pods = templatesIn(typed).map(({ path: inner, restartPolicy, setsCommand }) => ({
    object,
    path: [...path, ...inner],
    pod: objectOf(valueAt(value, inner)), // without what its list says
    restartPolicy,
    setsCommand,
    warnings: misplaced(value, { path, inner }),
  }));
  const reason = pods.length > 0 ? undefined : whyLeft(typed);
  return reason === undefined ? pods : [{ object, path, reason }];
}

/**
 * Returns a list's item with the kind and apiVersion that it has in kubectl: those of a typed list (`PodList`), if it
 * has neither itself (apimachinery 0.37.0, pkg/apis/meta/v1/unstructured/helpers.go, decodeToList).
 */
function typedBy(list: JsonObject | undefined, item: JsonObject): JsonObject {
  if (list === undefined || textOf(item.kind) || textOf(item.apiVersion)) return item;
  return { ...item, kind: textOf(list.kind)?.replace(/List$/, ""), apiVersion: list.apiVersion };
}

/** Returns the field with the objects of a List, or of a Template of OpenShift. Returns undefined for other objects. */
function listFieldOf(object: JsonObject): "items" | "objects" | undefined {
  const kind = textOf(object.kind) ?? "";
  if (kind.endsWith("List") && Array.isArray(object.items)) return "items";
  return kind === "Template" && Array.isArray(object.objects) ? "objects" : undefined;
}

/** `Job shop/migrate`, `Deployment web`, `Pod batch-*`. */
function nameOf({ kind, metadata }: JsonObject): string {
  const { name, generateName, namespace } = objectOf(metadata);
  const own = textOf(name) ?? (textOf(generateName) === undefined ? "(without a name)" : `${generateName}*`);
  const prefix = textOf(namespace) === undefined ? "" : `${namespace}/`;
  return `${textOf(kind) || "(without a kind)"} ${prefix}${own}`;
}

/**
 * Warns of annotations and labels on the workload itself, or on a template of Jobs in it: Kubernetes does not copy these
 * to pods.
 */
function misplaced(object: JsonObject, { path, inner }: { path: Path; inner: Path }): readonly Remark[] {
  const message = `ignored here: move it to ${describePath([...inner, "metadata", "annotations"])}`;
  const outer = inner.map((_, at) => inner.slice(0, at));
  return outer.flatMap((holder) => {
    const { annotations, labels } = objectOf(objectOf(valueAt(object, holder)).metadata);
    const own = Object.entries({ annotations, labels }).flatMap(([where, all]) =>
      Object.keys(objectOf(all)).map((name) => ({ where, name })),
    );
    return own
      .filter(({ name }) => isEbbKey(name))
      .map(({ where, name }) => ({
        field: describePath([...path, ...holder, "metadata", `${where}[${name}]`]),
        message,
      }));
  });
}
