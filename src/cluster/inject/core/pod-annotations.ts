import type { Option } from "../../../shared/cli/core/option.ts";
import { options } from "../../../shared/cli/core/options.ts";
import { nearest } from "../../../shared/cli/core/suggestion.ts";
import { boolean } from "../../../shared/cli/core/syntax.ts";
import { redactUrls } from "../../../shared/core/redact.ts";
import { parseCommandLine, splitBy } from "../../../shared/core/text.ts";
import { NATIVE } from "../../../shared/sidecars/core/kinds/native.ts";
import { sidecarNames } from "../../../shared/sidecars/core/registry.ts";
import { LONGEST_READ } from "../../core/readable.ts";
import { ASK, annotationField, isEbbKey, PREFIX, STATUS } from "./annotation-names.ts";
import { readNativeValue } from "./facts/native-value.ts";
import { brief, MOST_REMARKS, type Remark, type Remarks } from "./pod.ts";

/** The options of `ebb run` by flag, without `--`. Each is an annotation `ebb.dev/FLAG` and a name for `--set`. */
export const annotationOptions: ReadonlyMap<string, Option<unknown>> = new Map(
  Object.values(options).flatMap((option) => (option.isAnnotation ? [[option.flag, option]] : [])),
);

const variableNames: ReadonlyMap<string, readonly string[]> = new Map(
  [...annotationOptions].map(([flag, { variables }]) => [flag, variables.map(({ name }) => name)]),
);

/** Returns ebb's own variable that sets an option: `EBB_DRAIN` for `drain`. The flag must be of `annotationOptions`. */
export function variableOf(flag: string): string {
  return variablesOf(flag)[0] as string;
}

/** Returns all variables that set an option: ebb's own, then those of other tools. Empty if there is no such option. */
export function variablesOf(flag: string): readonly string[] {
  return variableNames.get(flag) ?? [];
}

/** What is wrong with a value. */
type Mismatch = `expected ${string}, got ${string}`;

/**
 * Returns what is wrong with the value of an option, `expected ..., got ...`, with secrets redacted; undefined if it is
 * valid.
 */
export function problemOf(option: Option<unknown>, text: string): Mismatch | undefined {
  const { syntax, shown } = option;
  const texts = valuesOf(option, text);
  const bad = texts.length === 0 ? text : texts.find((one) => syntax.parse(one) === undefined);
  return bad === undefined ? undefined : mismatch(syntax.closer?.(bad) ?? syntax.expected, bad, shown);
}

/** Returns the values of an option's flag that the text of its variable stands for: several if it is a list. */
function valuesOf({ variables }: Option<unknown>, text: string): readonly string[] {
  return variables[0]?.read?.(text, {}) ?? [text];
}

/** Returns the flags that say what the text of an option's variable says: `--app-port=80`, `--app-port=81`. */
export function flagsOf(flag: string, text: string): readonly string[] {
  const option = annotationOptions.get(flag);
  const values = option === undefined ? [text] : valuesOf(option, text);
  return values.map((value) => `--${flag}=${value}`);
}

/** Formats `expected a duration such as 5m, got "soon"`. `shown` redacts the value, by default credentials in URLs. */
function mismatch(expected: string, text: string, shown = redactUrls): Mismatch {
  return `expected ${expected}, got ${JSON.stringify(shown(text))}`;
}

/** What a pod's annotations say. */
export interface PodAnnotations {
  /** The names of containers that are apps, although ebb would take them for sidecars. */
  readonly apps: ReadonlySet<string>;
  /** The names of containers that are no app, whatever they are called, in the order given. */
  readonly sidecars: ReadonlySet<string>;
  /**
   * Which ordinary containers become native sidecars: the `sidecars`, these and those that ebb knows (`true`), or none
   * (`false`).
   */
  readonly native: "sidecars" | "all" | "none";
  /** Values of options by flag, for all containers. */
  readonly options: ReadonlyMap<string, string>;
  /** Values of options by flag, by the container's name. */
  readonly own: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** What the images of all containers without a command start. */
  readonly entrypoint: readonly string[] | undefined;
  /** What images start, by the container's name. */
  readonly entrypoints: ReadonlyMap<string, readonly string[]>;
}

/**
 * Names of annotations after `ebb.dev/` that are no options and need no container's name. `status`, which ebb writes,
 * is not among them.
 */
export const ownNames = ["inject", "apps", "sidecars", "entrypoint", "native"];
/** The annotations of `ebb reaper` (cluster/reaper/core/policy.ts, quits.ts). */
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
  const wish = annotations[ASK];
  if (wish === undefined) return undefined;
  const isAsked = typeof wish === "string" ? boolean.parse(wish) : undefined;
  const isText = typeof wish === "string";
  const message = `expected "true" or "false"${isText ? "" : " in quotes"}, got ${brief(wish)}`;
  return isAsked ?? { field: annotationField(ASK), message };
}

/**
 * Returns a warning for each annotation of ebb that has no effect because the pod is left as it is. `reason` says why
 * it is left, and begins with `it` ("it has only sidecars").
 */
export function idleAnnotations(annotations: Annotations, reason: string): readonly Remark[] {
  return Object.keys(annotations)
    .filter(isOfInject)
    .filter((name) => ![ASK, `${PREFIX}apps`, `${PREFIX}sidecars`, STATUS, NATIVE].includes(name))
    .slice(0, MOST_REMARKS + 1) // each may be compared with all names
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

const keys = [...ownNames, ...annotationOptions.keys()];

function unknownKey(key: string): string {
  const near = nearest(key, keys);
  return `no such annotation${near === undefined ? "" : `; did you mean ${PREFIX}${near}?`}`;
}

/** What is read so far. */
type Reading = { -readonly [K in "apps" | "sidecars" | "native" | "entrypoint"]: PodAnnotations[K] } & {
  readonly options: Map<string, string>;
  readonly own: Map<string, Map<string, string>>;
  readonly entrypoints: Map<string, readonly string[]>;
};

/**
 * Reads a pod's annotations of ebb, all but inject and status. Values that are wrong become problems, unknown names
 * warnings. Never throws.
 */
export function readPodAnnotations(annotations: Readonly<Record<string, string>>, remarks: Remarks): PodAnnotations {
  const reading: Reading = {
    apps: new Set(),
    sidecars: new Set(),
    native: "sidecars",
    entrypoint: undefined,
    options: new Map(),
    own: new Map(),
    entrypoints: new Map(),
  };
  for (const [name, text] of Object.entries(annotations)) {
    if (!isOfInject(name) || name === STATUS || name === ASK) continue;
    const [, key = "", , container] = /^([^.]*)(\.(.*))?$/s.exec(name.slice(PREFIX.length)) ?? [];
    const problem = readOne({ key, container, text }, reading);
    const field = annotationField(name);
    if (problem === "unknown") remarks.warnings.push({ field, message: unknownKey(key) });
    else if (problem !== undefined) remarks.problems.push({ field, message: problem });
  }
  return reading;
}

/** An annotation `ebb.dev/KEY` or `ebb.dev/KEY.CONTAINER`. */
interface Annotation {
  readonly key: string;
  readonly container: string | undefined;
  readonly text: string;
}

/** Reads an annotation. Returns what is wrong with its value; undefined if nothing is. */
function readOne(annotation: Annotation, reading: Reading): Mismatch | "unknown" | undefined {
  const { key, container, text } = annotation;
  if (text.length > LONGEST_READ) return `expected at most ${LONGEST_READ} characters, got ${text.length}`;
  if (key === "entrypoint") return readEntrypoint(annotation, reading);
  if (container === undefined && (key === "apps" || key === "sidecars")) {
    const names = splitBy(text, ",");
    if (names.length === 0) return mismatch("names of containers, as in a,b", text);
    reading[key] = new Set(names);
    return undefined;
  }
  if (container === undefined && key === "native") return readNative(text, reading);
  const option = annotationOptions.get(key);
  if (option === undefined) return "unknown";
  const problem = problemOf(option, text);
  if (problem !== undefined) return problem;
  if (container === undefined) reading.options.set(key, text);
  else reading.own.set(container, new Map(reading.own.get(container)).set(key, text));
  return undefined;
}

function readNative(text: string, reading: Reading): Mismatch | undefined {
  const { wish, names } = readNativeValue(text);
  const isKnown = names.every((one) => (sidecarNames as readonly string[]).includes(one));
  if (!isKnown || (wish === undefined && names.length === 0))
    return mismatch(`true, false, or sidecars that are native, of ${sidecarNames.join(", ")}`, text);
  if (wish !== undefined) reading.native = wish ? "all" : "none";
  return undefined;
}

function readEntrypoint({ container, text }: Annotation, reading: Reading): Mismatch | undefined {
  const words = parseCommandLine(text);
  if (words === undefined) {
    const expected =
      'a command line: ["/app", "--port", "80"], or /app --port 80 where no word contains spaces or quotes';
    return mismatch(expected, text);
  }
  if (container === undefined) reading.entrypoint = words;
  else reading.entrypoints.set(container, words);
  return undefined;
}
