import { stringify } from "yaml";
import type { Cases, Conditions } from "./conditions.ts";
import { type Mark, markIn } from "./marks.ts";
import type { Part, Parts } from "./union.ts";

// Prints a union of manifests as a template of Helm.

/** What is needed to print. */
export interface Printing {
  readonly conditions: Conditions;
  /** Returns the lines of the arguments that an option becomes. */
  readonly argsOf: (option: string) => readonly string[];
}

type Lines = readonly string[];

/** Returns the lines of the manifests, each after a line `---`. */
export function printManifests(union: Parts, printing: Printing): Lines {
  return choose(union.all, printing.conditions.all, printing, (parts, of) => printAll(parts, of, printing));
}

/** Prints manifests one after the other; those for each namespace of a list are in a loop. */
function printAll(parts: readonly Part[], of: Cases, printing: Printing): Lines {
  const [first] = parts;
  if (first === undefined) return [];
  const list = eachNamespace(first);
  const others = parts.findIndex((part) => eachNamespace(part) !== list);
  const alike = others === -1 ? parts : parts.slice(0, others);
  const lines = alike.flatMap((part) => {
    const { parts: fields } = list === undefined ? part : inserted(part);
    return ["---", ...printParts(fields as Parts, of, printing)];
  });
  const printed = list === undefined ? lines : [`{{- range ${list} }}`, ...inside(lines), "{{- end }}"];
  return [...printed, ...printAll(parts.slice(alike.length), of, printing)];
}

/** Returns the list of namespaces, for each of which a manifest is printed. */
function eachNamespace({ parts }: Part): string | undefined {
  const metadata = parts?.all.find(({ key }) => key === "metadata");
  const mark = markIn(metadata?.parts?.all.find(({ key }) => key === "namespace")?.value);
  return mark?.kind === "each" ? mark.expression : undefined;
}

function printParts({ kind, all }: Parts, of: Cases, printing: Printing): Lines {
  const [first, ...rest] = all;
  const mark = markIn(first?.key);
  if (mark?.kind === "instead") {
    const others = printParts({ kind, all: rest }, of, printing);
    return [`{{- with ${mark.expression} }}`, toYaml("."), "{{- else }}", ...others, "{{- end }}"];
  }
  const print = kind === "map" ? printEntry : printItem;
  return choose(all, of, printing, (parts, where) => parts.flatMap((part) => print(part, where, printing)));
}

/** Parts that are there in the same cases. */
interface Group {
  readonly where: Cases;
  readonly parts: Part[];
}

/** Puts parts that are there in some cases only between the lines of their conditions. */
function choose(
  all: readonly Part[],
  of: Cases,
  { conditions }: Printing,
  print: (parts: readonly Part[], where: Cases) => Lines,
): Lines {
  const lines: string[] = [];
  const groups = groupsOf(all, of);
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const rest = of & ~group.where;
    if (rest === 0n) {
      lines.push(...print(group.parts, of));
      continue;
    }
    const pair = groups[0]?.where === rest ? [group, groups.shift() as Group] : [group];
    if (conditions.words(group.where, of).startsWith("not ")) pair.reverse(); // of two, the condition that is easier to read
    const [first = group, other] = pair;
    lines.push(`{{- if ${conditions.words(first.where, of)} }}`, ...print(first.parts, first.where));
    if (other !== undefined) lines.push("{{- else }}", ...print(other.parts, other.where));
    lines.push("{{- end }}");
  }
  return lines;
}

function groupsOf(all: readonly Part[], of: Cases): Group[] {
  const groups: Group[] = [];
  for (const part of all) {
    const where = part.where & of;
    if (groups.at(-1)?.where === where) groups.at(-1)?.parts.push(part);
    else if (where !== 0n) groups.push({ where, parts: [part] });
  }
  return groups;
}

function printEntry(part: Part, of: Cases, printing: Printing): Lines {
  const { key, comment, value, parts } = part;
  if (comment !== undefined) return comment.split("\n").map((line) => `# ${line}`);
  const keyMark = markIn(key);
  if (keyMark !== undefined) return [`{{- with ${keyMark.expression} }}`, toYaml("."), "{{- end }}"];
  const only = onlyValue(part);
  if (only !== undefined) {
    const lines = printEntry(withoutList(part), of, printing);
    return [`{{- with ${only} }}`, ...inside(lines), "{{- end }}"];
  }
  if (parts === undefined)
    return markIn(value)?.kind === "yaml" ? [`${key}:`, `  ${toYaml(".")}`] : [`${key}: ${scalar(value)}`];
  const inLine = inOneLine(parts, of);
  if (inLine !== undefined) return [`${key}: ${inLine}`];
  return [`${key}:`, ...indented(printParts(parts, of, printing))];
}

function printItem(part: Part, of: Cases, printing: Printing): Lines {
  const mark = onlyMark(part);
  if (mark?.kind === "args") return printing.argsOf(mark.expression);
  if (mark?.kind === "yaml") {
    if (mark.expression === ".") return [toYaml(".")];
    return [`{{- with ${mark.expression} }}`, toYaml("."), "{{- end }}"];
  }
  if (mark?.kind === "each") {
    const lines = printItem(inserted(part), of, printing);
    return [`{{- range ${mark.expression} }}`, ...inside(lines), "{{- end }}"];
  }
  if (part.parts === undefined) return [`- ${scalar(part.value)}`];
  const lines = indented(printParts(part.parts, of, printing));
  const [first = "", ...rest] = lines;
  return /^ {2}[\w"]/.test(first) ? [`-${first.slice(1)}`, ...rest] : ["-", ...lines];
}

/** Returns the mark that is all there is in a part. */
function onlyMark({ value, parts }: Part): Mark | undefined {
  if (parts === undefined) return markIn(value);
  return parts.all.length === 1 ? onlyMark(parts.all[0] as Part) : undefined;
}

/** Returns the value on which alone an entry depends: it is printed only if that is not empty. */
function onlyValue(part: Part): string | undefined {
  const mark = onlyMark(part);
  return mark !== undefined && ["each", "yaml", "given"].includes(mark.kind) && mark.expression !== "."
    ? mark.expression
    : undefined;
}

/** Returns a copy whose marks are about what `with` gives. */
function withoutList(part: Part): Part {
  return replaced(part, (text) => text.replace(/⟦given [^⟧]*⟧/, "{{ . }}").replace(/⟦(each|yaml) [^⟧]*⟧/, "⟦$1 .⟧"));
}

/** Returns a copy with the item of the list in place of its mark. */
function inserted(part: Part): Part {
  return replaced(part, (text) => text.replace(/⟦each [^⟧]*⟧/, "{{ . }}"));
}

function replaced(part: Part, replace: (text: string) => string): Part {
  const { value, parts } = part;
  if (typeof value === "string") return { ...part, value: replace(value) };
  if (parts === undefined) return part;
  return { ...part, parts: { ...parts, all: parts.all.map((each) => replaced(each, replace)) } };
}

/** Returns a short list of words on one line. */
function inOneLine({ kind, all }: Parts, of: Cases): string | undefined {
  const isPlain = ({ value, parts, where }: Part) =>
    parts === undefined && (where & of) === of && !/\{\{|⟦/.test(String(value));
  if (kind === "map" || !all.every(isPlain)) return undefined;
  const text = all.map(({ value }) => scalar(value)).join(", ");
  return text.length < 60 ? `[${text}]` : undefined;
}

/** Formats a value. A text that Helm gives as a whole is quoted. */
function scalar(value: unknown): string {
  const mark = markIn(value);
  if (mark?.kind === "plain") return `{{ ${mark.expression} }}`;
  if (!String(value).includes("{{")) return stringify(value, { version: "1.1", lineWidth: 0 }).trimEnd();
  const [, whole] = /^\{\{ ([^{}]*) \}\}$/.exec(String(value)) ?? [];
  return whole === undefined ? String(value) : `{{ ${whole} | quote }}`;
}

/** The line that prints a value as YAML, with the place of its own indentation. */
function toYaml(expression: string): string {
  return `{{- toYaml ${expression} | nindent @ }}`;
}

/** Inside of `range` and `with` the chart's values are those of `$`. */
function inside(lines: Lines): Lines {
  return lines.map((line) =>
    line.replaceAll(/([ (])\.(Values|Release|Chart)\b/g, "$1$.$2").replaceAll(/(include "[^"]+") \./g, "$1 $$"),
  );
}

function indented(lines: Lines): Lines {
  return lines.map((line) => `  ${line}`);
}

/** Writes the indentation of each line that prints YAML into it. */
export function withIndents(lines: Lines): string {
  return lines.map((line) => `${line.replace("nindent @", `nindent ${line.search(/\S/)}`)}\n`).join("");
}
