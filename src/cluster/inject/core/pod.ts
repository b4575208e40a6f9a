import * as z from "zod/mini";
import { describePath, isObject, type Path, textOf, valueAt } from "../../../shared/core/json.ts";
import { LONGEST_READ } from "../../core/readable.ts";
import { LONGEST_IMAGE } from "../../image/core/reference.ts";
import { annotationField } from "./annotation-names.ts";

/** A problem with, or a warning about, one field of a pod. */
export interface Remark {
  /** `spec.containers[0].command`, `metadata.annotations[ebb.dev/drain]`. */
  readonly field: string;
  readonly message: string;
}

/** What is found while a pod is read and changed. With a problem the pod is refused. */
export interface Remarks {
  readonly problems: Remark[];
  readonly warnings: Remark[];
}

/** The most problems, and the most warnings, that are told of a pod. */
export const MOST_REMARKS = 50;

// The fields whose shape ebb relies on. Others are read by objectOf and listOf, whatever they are. The API server checks all.

/** A loose object, checked in less time: the copy that zod makes lacks the other fields, and nobody takes it. */
const object = z.object as typeof z.looseObject;

const text = z.string();
/** A text that ebb may repeat in each container. */
const short = text.check(z.maxLength(LONGEST_READ));
/** The name of a container or volume: a DNS label (apimachinery, pkg/util/validation, DNS1123LabelMaxLength). */
const label = z.string().check(z.maxLength(63));
const named = object({ name: label });
const amounts = z.nullish(z.record(text, z.union([text, z.number()])));

const listOf = <T extends z.ZodMiniType>(item: T) => z.nullish(z.array(item));

const resources = z.nullish(object({ requests: amounts, limits: amounts }));

/** A preStop hook, as ebb.dev/status also keeps it. */
export const hook = z.looseObject({ exec: z.nullish(z.looseObject({ command: listOf(text) })) });

const container = object({
  name: label,
  image: z.nullish(text.check(z.maxLength(LONGEST_IMAGE))),
  command: listOf(text),
  args: listOf(text),
  env: listOf(object({ name: text, value: z.nullish(text) })),
  volumeMounts: listOf(object({ name: text, mountPath: text, subPath: z.nullish(text) })),
  lifecycle: z.nullish(
    object({
      stopSignal: z.nullish(text),
      preStop: z.nullish(hook),
    }),
  ),
  resources,
  restartPolicy: z.nullish(text),
});

const annotationFile = object({
  path: z.nullish(short),
  fieldRef: z.nullish(object({ fieldPath: z.nullish(text) })),
});

const downwardApi = z.nullish(object({ items: listOf(annotationFile) }));

const volume = object({
  name: label,
  downwardAPI: downwardApi,
  projected: z.nullish(object({ sources: listOf(object({ downwardAPI: downwardApi })) })),
});

const podWith = <C extends z.ZodMiniType, N extends z.ZodMiniType, V extends z.ZodMiniType>(c: C, n: N, v: V) =>
  object({
    metadata: z.nullish(object({ annotations: z.nullish(z.record(text, text)) })),
    spec: object({
      containers: z.array(c).check(z.minLength(1)),
      initContainers: listOf(c),
      ephemeralContainers: listOf(n),
      volumes: listOf(v),
      restartPolicy: z.nullish(short),
      terminationGracePeriodSeconds: z.nullish(z.number()),
      securityContext: z.nullish(object({ runAsUser: z.nullish(z.number()) })),
      resources,
      os: z.nullish(object({ name: z.nullish(text) })),
      nodeSelector: z.nullish(z.record(text, text)),
    }),
  });

const pod = podWith(container, named, volume);
/**
 * The items of its lists are checked one by one, so that a pod with a million mistakes yields those of one item only.
 */
const frame = podWith(z.unknown(), z.unknown(), z.unknown());
const lists = [
  ["containers", container],
  ["initContainers", container],
  ["ephemeralContainers", named],
  ["volumes", volume],
] as const;

export type Pod = z.infer<typeof pod>;
export type Container = z.infer<typeof container>;
export type Hook = z.infer<typeof hook>;
export type Volume = z.infer<typeof volume>;
export type Mount = NonNullable<Container["volumeMounts"]>[number];
/** Quantities by resource (`cpu`, `memory`). */
export type Amounts = z.infer<typeof amounts>;

/**
 * Checks that a value has the shape of a `Pod`, and that no two containers share a name. Returns an empty list if so,
 * else the first problems: those of the first list item that is malformed, for example.
 */
export function checkPod(value: unknown): readonly Remark[] {
  const { error } = frame.safeParse(value);
  if (error !== undefined) return error.issues.map((issue) => remarkOn(issue, issue.path as Path, value));
  const { spec } = value as Pod;
  for (const [list, item] of lists) {
    for (const [at, one] of (spec[list] ?? []).entries()) {
      const { error } = item.safeParse(one);
      if (error !== undefined)
        return error.issues.map((issue) => remarkOn(issue, ["spec", list, at, ...(issue.path as Path)], value));
    }
  }
  return doubles(spec.containers);
}

function remarkOn(issue: z.core.$ZodIssue, path: Path, value: unknown): Remark {
  const found = valueAt(value, path);
  const [, list, , name] = path;
  if (found == null && name === "name" && path.length === 4)
    return { field: fieldOf(path), message: `a ${list === "volumes" ? "volume" : "container"} without a name` };
  const expected = expectedOf(issue);
  const isUnquoted = expected === "text" && (typeof found === "number" || typeof found === "boolean");
  // the file may have it in another way: 420 is 0644 there, true is yes
  const got = isUnquoted ? `a ${typeof found}: write it in quotes` : `${brief(found)}${hintFor(path, found)}`;
  return { field: fieldOf(path), message: `expected ${expected}, got ${got}` };
}

/** The lists whose items have names. */
const namedLists = ["containers", "initContainers", "ephemeralContainers", "volumes", "env", "volumeMounts"];

/** Says how a list is written to somebody who wrote a map: of names, or a single item without its dash. */
function hintFor(path: Path, found: unknown): string {
  if (!isObject(found) || !namedLists.includes(String(path.at(-1)))) return "";
  const [key] = ["image", "command"].some((field) => field in found) ? ["NAME"] : Object.keys(found);
  const name = textOf(found.name) ?? key;
  return name === undefined ? "" : `: begin each item with a dash, as in "- name: ${name.slice(0, 63)}"`;
}

const words: Readonly<Record<string, string>> = {
  string: "text",
  array: "a list",
  object: "an object",
  record: "an object",
  number: "a number",
};

function expectedOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "too_small") return "at least one container";
  if (issue.code === "too_big") return `at most ${issue.maximum} characters`;
  if (issue.code === "invalid_union") return "a quantity";
  return issue.code === "invalid_type" ? (words[issue.expected] ?? issue.expected) : "something else";
}

/** Shows a value in an error, shortened to 80 characters. */
export function brief(value: unknown): string {
  if (value === undefined) return "nothing";
  const all = Array.isArray(value) ? `a list of ${value.length}` : typeof value === "object" ? "an object" : undefined;
  if (value === null || all === undefined) return JSON.stringify(value).slice(0, 80);
  return all;
}

/** Formats a path for messages: `metadata.annotations[ebb.dev/drain]`, `spec.containers[0].command`. */
function fieldOf(path: Path): string {
  const isAnnotation = path[0] === "metadata" && path[1] === "annotations" && path.length === 3;
  return isAnnotation ? annotationField(String(path[2])) : describePath(path);
}

function doubles(containers: readonly Container[]): readonly Remark[] {
  const seen = new Set<string>();
  return containers.flatMap(({ name }, at) => {
    const isFirst = seen.size < seen.add(name).size;
    return isFirst
      ? []
      : [{ field: `spec.containers[${at}].name`, message: `"${name}" is the name of two containers` }];
  });
}

/** Returns the name, or, if an item of `taken` has it, the first free one of `NAME-2`, `NAME-3`, ... */
export function freeName(name: string, taken: readonly { readonly name: string }[]): string {
  const names = new Set(taken.map((one) => one.name));
  let free = name;
  for (let number = 2; names.has(free); number += 1) free = `${name}-${number}`;
  return free;
}
