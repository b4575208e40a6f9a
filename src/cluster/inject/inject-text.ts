import { type Change, type Path, withValuesAt } from "../../shared/core/json.ts";
import { linesIn } from "../../shared/core/text.ts";
import { STATUS } from "./core/annotation-names.ts";
import { writtenIn } from "./core/edits/written.ts";
import type { Injection } from "./core/inject-pod.ts";
import { brief, type Remark } from "./core/pod.ts";
import {
  type ChangePod,
  changeAt,
  describeRemark,
  type FoundPod,
  type NoObject,
  objectsIn,
} from "./core/workload/workload.ts";
import { isEmptyDocument, splitDocuments } from "./documents.ts";
import { nodeAt, readDocument, type YamlDocument } from "./yaml/document.ts";
import { editsTo } from "./yaml/edit.ts";
import { NotYaml, withIndents } from "./yaml/parse.ts";
import { startOf } from "./yaml/places.ts";
import type { Splice } from "./yaml/splice.ts";
import { emptyTextAt, nodesOf } from "./yaml/written.ts";

/** What comes of a text with manifests. */
export interface Injected {
  /** What is to be replaced in it. */
  readonly splices: readonly Splice[];
  /** What was done with each pod, and warnings: a line each. */
  readonly remarks: readonly string[];
  /** Those of them that are warnings. */
  readonly warnings: readonly string[];
  /** Why pods are refused, or a document cannot be read; then that document is not changed. */
  readonly problems: readonly string[];
}

/** Where a document starts, for messages that an editor can follow: `deploy.yaml:12`. */
interface Start {
  readonly name: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * Applies `changePod` to the pods of all documents of a text. `name`: the file in messages. `namesLeft`: whether objects
 * that make pods, but are left as they are, are warned of.
 */
export function injectText(name: string, text: string, changePod: ChangePod, namesLeft = true): Injected {
  const splices: Splice[] = [];
  const remarks: string[] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  let at = 0;
  let line = 1;
  for (const piece of splitDocuments(text)) {
    if (!isEmptyDocument(piece)) {
      const injected = injectDocument({ name, line }, piece, changePod, namesLeft);
      for (const splice of injected.splices) splices.push({ ...splice, from: splice.from + at, to: splice.to + at });
      remarks.push(...injected.remarks);
      warnings.push(...injected.warnings);
      problems.push(...injected.problems);
    }
    at += piece.length;
    line += linesIn(piece);
  }
  return { splices, remarks, warnings, problems };
}

function injectDocument(start: Start, text: string, changePod: ChangePod, namesLeft: boolean): Injected {
  const inject = (from: string) => injectObjects(start, readDocument(from), changePod, namesLeft);
  try {
    return inject(text);
  } catch (error) {
    if (!(error instanceof NotYaml)) throw error;
    const unchanged = error.close === undefined ? undefined : unchangedBy(inject, text);
    return unchanged ?? { splices: [], remarks: [], warnings: [], problems: [describeSyntax(start, text, error)] };
  }
}

/** Returns what is said of a document that can be read, but not edited; undefined if it would be changed or refused. */
function unchangedBy(inject: (from: string) => Injected, text: string): Injected | undefined {
  const readable = withIndents(text);
  if (readable === undefined) return undefined;
  try {
    const injected = inject(readable);
    return injected.splices.length + injected.problems.length === 0 ? injected : undefined;
  } catch (error) {
    if (error instanceof NotYaml) return undefined;
    throw error;
  }
}

function injectObjects(start: Start, document: YamlDocument, changePod: ChangePod, namesLeft: boolean): Injected {
  const changes: Change[] = [];
  const written: (readonly [Path, string])[] = [];
  const lineAt = lineCounter(document.text);
  const remarks: string[] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  const at = (path: Path) => {
    const node = nodeAt(document, path);
    return `${start.name}:${start.line + (node === undefined ? 0 : lineAt(startOf(node)))}: `;
  };
  const warn = (lines: readonly string[]) => {
    remarks.push(...lines);
    warnings.push(...lines);
  };
  for (const item of objectsIn(document.value)) {
    if ("found" in item) throw notAnObject(document, item);
    const { object, path } = item;
    if ("reason" in item) {
      if (namesLeft) warn([`${at(path)}warning: ${object}: left as it is: ${item.reason}`]);
      continue;
    }
    const injection = changeAt(item, changePod, (inner) => emptyTextAt(document, [...path, ...inner]));
    if (injection.kind === "incomplete") continue;
    if ("pod" in injection) {
      changes.push([path, injection.pod]);
      for (const [inner, text] of writtenIn(item.pod)) written.push([[...path, ...inner], text]);
    }
    const describe = (prefix: string) => (remark: Remark) =>
      `${at([...path, ...pathOf(remark.field)])}${prefix}${describeRemark(item, remark)}`;
    const { problems: why, isMistake } = "problems" in injection ? injection : { problems: [], isMistake: false };
    const warned = injection.warnings.map(describe("warning: "));
    if (isMistake && why.length > 0) {
      problems.push(...why.map(describe("")), ...warned); // a name with a slip in it may be the reason
      continue;
    }
    remarks.push(outcomeOf(item, injection));
    warn([...warned, ...why.map(describe("warning: "))]);
    warn(item.warnings.map(({ field, message }) => `${at(pathOf(field))}warning: ${object}: ${field}: ${message}`));
  }
  const isChanged = problems.length === 0 && changes.length > 0;
  const after = withValuesAt(document.value, changes);
  const splices = isChanged ? editsTo(document, after, nodesOf(document, written)) : [];
  return { splices, remarks, warnings, problems };
}

/** Makes the error for what kubectl would refuse, too: a text, or a list of objects that is no List. */
function notAnObject(document: YamlDocument, { path, found }: NoObject): NotYaml {
  const node = nodeAt(document, path);
  const hint =
    path.length === 0 && Array.isArray(found) ? "; write --- between objects, or make them a List's items" : "";
  const message = `expected an object with apiVersion and kind, got ${brief(found)}${hint}`;
  return new NotYaml(node === undefined ? 0 : startOf(node), message);
}

/**
 * Says what became of a pod. One that nobody but --all selected, and that cannot be changed, stays as it is: the others
 * are not refused for it.
 */
function outcomeOf({ object }: FoundPod, injection: Exclude<Injection, { kind: "incomplete" }>): string {
  if (injection.kind === "changed") return `${object}: ${changeOf(injection)}`;
  if (injection.kind === "removed") return `${object}: ${removalOf(injection.containers)}`;
  if (injection.kind === "unchanged" || injection.kind === "skipped")
    return `${object}: unchanged: ${injection.reason}`;
  return `${object}: unchanged: it cannot be changed, and does not ask for ebb`;
}

function changeOf({ pod, containers, drained, natives }: Extract<Injection, { kind: "changed" }>): string {
  if (containers.length === 0 && drained.length === 0 && natives.length === 0)
    return pod.metadata?.annotations?.[STATUS] === undefined
      ? removalOf([])
      : "added variables for the ebb of its image";
  const wrapped = containers.length === 0 ? [] : [`put ebb into ${containers.join(", ")}`];
  const hooked = drained.length === 0 ? [] : [`added only a drain to ${drained.join(", ")}`];
  const moved = natives.length === 0 ? [] : [`made ${natives.join(", ")} native`];
  return [...wrapped, ...hooked, ...moved].join("; ");
}

function removalOf(containers: readonly string[]): string {
  return containers.length === 0 ? `took out its ${STATUS}` : `took ebb out of ${containers.join(", ")}`;
}

/** Splits the name of a field into its parts: `spec.containers[0].command`, `metadata.annotations[ebb.dev/drain]`. */
function pathOf(field: string): Path {
  return [...field.matchAll(/\[([^\]]*)(?:\]|$)|[^.[\]]+/g)].map(([whole, inside]) => {
    if (inside === undefined) return whole;
    return /^\d+$/.test(inside) ? Number(inside) : inside;
  });
}

/** Formats a syntax error with file, line and column. */
function describeSyntax({ name, line }: Start, text: string, { offset, message }: NotYaml): string {
  const before = text.slice(0, offset);
  const column = offset - before.lastIndexOf("\n");
  const [around = ""] = /^[^\n]*/.exec(text.slice(before.lastIndexOf("\n") + 1)) ?? [];
  return `${name}:${line + linesIn(before)}:${column}: ${message}${hintFor(around)}`;
}

function hintFor(line: string): string {
  if (line.includes("{{")) return "; is this a template? Render it first: helm template CHART | ebb inject";
  return /^\s*\/[/*]/.test(line) ? "; a comment begins with #, and JSON has none" : "";
}

/**
 * Returns a function that counts the lines before an offset. It goes on from the last offset, so neighbours cost little
 * in a long text.
 */
function lineCounter(text: string): (offset: number) => number {
  let at = 0;
  let line = 0;
  return (offset) => {
    line += offset > at ? linesIn(text.slice(at, offset)) : -linesIn(text.slice(offset, at));
    at = offset;
    return line;
  };
}
