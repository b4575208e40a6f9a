import { parseCommandLine } from "../base/text.ts";
import { nearest } from "../cli/suggestion.ts";
import { boolean, splitBy } from "../cli/syntax.ts";
import { sidecarNames } from "../sidecars/registry.ts";
import { mismatch, optionNamed, podOptionFlags, problemOf } from "./container/options.ts";
import { isEbbKey, PREFIX, STATUS } from "./marks.ts";
import { annotationField } from "./pod.ts";
import type { Remark } from "./remark.ts";
import { NATIVE } from "./status.ts";
import type { Wishes } from "./wishes.ts";

/** What each annotation of a pod, or of a workload's pod template, means, for the manual. */
export const annotationMeanings: readonly (readonly [annotation: string, example: string, meaning: string])[] = [
  [
    "ebb.dev/inject",
    '"true"',
    "put ebb into this pod; `false` keeps ebb out, whatever else selects the pod, and removes it if it is there",
  ],
  ["ebb.dev/containers", "app,worker", "the containers that ebb starts; if not set, all except the sidecars"],
  [
    "ebb.dev/sidecars",
    "metrics",
    "further containers that are sidecars, besides those that ebb knows by name or image",
  ],
  [
    "ebb.dev/OPTION",
    "40s",
    "an option of `ebb run` in all containers that ebb starts: `ebb.dev/drain`, `ebb.dev/sidecar`, `ebb.dev/grace`, ...",
  ],
  ["ebb.dev/OPTION.CONTAINER", "never", "an option of `ebb run` in one container: `ebb.dev/quit-on.worker`"],
  [
    "ebb.dev/entrypoint",
    "/app --port 80",
    'the command line that the image starts, if the container has no `command`; a JSON array works too: `["/app", "--port", "80"]`',
  ],
  [
    "ebb.dev/entrypoint.CONTAINER",
    "/app --port 80",
    "the command line that this container's image starts, if several containers have no `command`",
  ],
  [
    "ebb.dev/native",
    "envoy",
    "the sidecars that are native in this pod (init containers with `restartPolicy: Always`): ebb drains only their inbound listeners and never quits them. ebb writes this itself if the annotation is not set",
  ],
  [
    "ebb.dev/status",
    "{...}",
    "what ebb has put into the pod, so that it can replace or remove it. ebb writes this; do not change it",
  ],
];

/**
 * Names of annotations after `ebb.dev/` that are no options and need no container's name. `status`, which ebb writes,
 * is not among them.
 */
export const ownNames = ["inject", "containers", "sidecars", "entrypoint", "native"];
/** The annotations of `ebb reaper` (core/reap/policy.ts, quits.ts). */
const ofReaper = /^ebb\.dev\/reap($|-(exec|quit|patience)\..)/;

/** Reports whether an annotation or label is ebb's, but not the reaper's. */
function isOfInject(name: string): boolean {
  return isEbbKey(name) && !ofReaper.test(name);
}

type Annotations = Readonly<Record<string, unknown>>;

/**
 * Reads ebb.dev/inject, by which a pod asks for ebb. Returns true or false, undefined if it is not set, and a Remark if
 * it is anything else.
 */
export function readInjectAnnotation(annotations: Annotations): boolean | undefined | Remark {
  const name = `${PREFIX}inject`;
  const wish = annotations[name];
  if (wish === undefined) return undefined;
  const isAsked = typeof wish === "string" ? boolean.parse(wish) : undefined;
  const isText = typeof wish === "string";
  const message = `expected "true" or "false"${isText ? "" : " in quotes"}, got ${JSON.stringify(wish)}`;
  return isAsked ?? { field: annotationField(name), message };
}

/**
 * Returns a warning for each annotation of ebb that has no effect because the pod is left as it is. `reason` says why
 * it is left, and begins with `it` ("it has only sidecars").
 */
export function idleAnnotations(annotations: Annotations, reason: string): readonly Remark[] {
  return Object.keys(annotations)
    .filter(isOfInject)
    .filter((name) => ![`${PREFIX}inject`, `${PREFIX}sidecars`, STATUS, NATIVE].includes(name))
    .map((name) => ({ field: annotationField(name), message: whyIdle(name.slice(PREFIX.length), reason) }));
}

/**
 * Returns a warning for each label that should have been an annotation. Labels that the reaper itself reads are not
 * reported.
 */
export function strayLabels(labels: Readonly<Record<string, unknown>>): readonly Remark[] {
  return Object.keys(labels)
    .filter(isOfInject)
    .map((name) => ({ field: `metadata.labels[${name}]`, message: "ignored as a label: write it under annotations" }));
}

/** Says why an annotation has no effect: because of a typing error in its name, or for `reason`. */
function whyIdle(key: string, reason: string): string {
  const isSlip = !keys.includes(key.split(".")[0] as string) && nearest(key, keys) !== undefined;
  return isSlip ? unknownKey(key) : `ignored: the pod ${reason.replace(/^it /, "")}`;
}

const keys = [...ownNames, ...podOptionFlags];

function unknownKey(key: string): string {
  const near = nearest(key, keys);
  return `no such annotation${near === undefined ? "" : `; did you mean ${PREFIX}${near}?`}`;
}

/**
 * Reads a pod's annotations of ebb, all but inject and status. Values that are wrong become problems, unknown names
 * warnings. Never throws.
 */
export function readWishes(annotations: Readonly<Record<string, string>>): Wishes {
  const reading: Reading = { options: new Map(), own: new Map(), entrypoints: new Map(), problems: [], warnings: [] };
  for (const [name, text] of Object.entries(annotations)) {
    if (isOfInject(name) && name !== STATUS) readOne({ name, text }, reading);
  }
  return { containers: undefined, sidecars: [], entrypoint: undefined, ...reading };
}

interface Reading {
  containers?: readonly string[];
  sidecars?: readonly string[];
  entrypoint?: readonly string[];
  readonly options: Map<string, string>;
  readonly own: Map<string, Map<string, string>>;
  readonly entrypoints: Map<string, readonly string[]>;
  readonly problems: Remark[];
  readonly warnings: Remark[];
}

interface Annotation {
  readonly name: string;
  readonly text: string;
}

function readOne(annotation: Annotation, reading: Reading): void {
  const { name, text } = annotation;
  const [, key = "", , container] = /^([^.]*)(\.(.*))?$/s.exec(name.slice(PREFIX.length)) ?? [];
  if (key === "entrypoint") return readEntrypoint(annotation, container, reading);
  if (container === undefined && key === "inject") return;
  if (name === NATIVE) return checkNative(annotation, reading);
  if (container === undefined && (key === "containers" || key === "sidecars"))
    return readContainers(annotation, key, reading);
  const option = optionNamed(key);
  if (option === undefined) {
    reading.warnings.push({ field: annotationField(name), message: unknownKey(key) });
    return;
  }
  const problem = problemOf(option, text);
  if (problem !== undefined) reading.problems.push({ field: annotationField(name), message: problem });
  else if (container === undefined) reading.options.set(key, text);
  else reading.own.set(container, new Map(reading.own.get(container)).set(key, text));
}

function readContainers({ name, text }: Annotation, key: "containers" | "sidecars", reading: Reading): void {
  const names = splitBy(text, ",");
  if (names.length > 0) reading[key] = names;
  else
    reading.problems.push({ field: annotationField(name), message: mismatch("names of containers, as in a,b", text) });
}

function checkNative({ name, text }: Annotation, reading: Reading): void {
  const names = splitBy(text, ",");
  const isKnown = names.length > 0 && names.every((one) => (sidecarNames as readonly string[]).includes(one));
  const expected = `sidecars that are native, of ${sidecarNames.join(", ")}`;
  if (!isKnown) reading.problems.push({ field: annotationField(name), message: mismatch(expected, text) });
}

function readEntrypoint({ name, text }: Annotation, container: string | undefined, reading: Reading): void {
  const words = parseCommandLine(text);
  if (words === undefined) {
    const expected = 'a command line: ["/app", "--port", "80"], or /app --port 80 where no word has blanks or quotes';
    reading.problems.push({ field: annotationField(name), message: mismatch(expected, text) });
  } else if (container === undefined) reading.entrypoint = words;
  else reading.entrypoints.set(container, words);
}
