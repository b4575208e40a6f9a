import {
  Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  type Node,
  type Scalar,
  type ToStringOptions,
  visit,
} from "yaml";
import { isObject } from "../../../shared/core/json.ts";
import type { YamlDocument } from "./document.ts";
import { columnOf, indentationAt, isBlock, isFirstOnLine, startsOf } from "./places.ts";
import { plainValue } from "./scalars.ts";

/** How a document is written, so that what is added looks like what is there. */
export interface YamlStyle {
  readonly newline: "\n" | "\r\n";
  /** Blanks from a key to the keys below it. */
  readonly indent: number;
  /** Whether the dashes of a list stand further right than its key. */
  readonly indentSeq: boolean;
  /** The indentation of a level if the document is JSON, empty if that is on one line; undefined if it is YAML. */
  readonly json: string | undefined;
  /** Returns the lines in which the document has an item of a list: see `movedItems`. */
  readonly moved?: (value: unknown) => readonly string[] | undefined;
}

/**
 * Returns how a document is written: its line breaks, and the indentation of its first nested map and list (2 if there
 * is none).
 */
export function styleOf({ text, root }: YamlDocument): YamlStyle {
  let indent: number | undefined;
  let dash: number | undefined;
  visit(root, {
    Map(_, map) {
      if (!isBlock(map)) return;
      for (const { value } of map.items) {
        if (!isBlock(value as Node | null)) continue;
        const step = columnOf(value as typeof map) - columnOf(map);
        if (isMap(value)) indent ??= step;
        else dash ??= step;
      }
      return indent !== undefined && dash !== undefined ? visit.BREAK : undefined;
    },
  });
  return {
    newline: /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n",
    indent: indent ?? 2,
    indentSeq: (dash ?? indent ?? 2) > 0,
    json: jsonIndent(text, root),
  };
}

/**
 * Returns the indentation of the first field if the document is JSON, as its braces and quotes tell; empty if that is on
 * one line.
 */
function jsonIndent(text: string, root: Node | null): string | undefined {
  if (!isMap(root) || isBlock(root) || (root.items[0]?.key as Scalar | undefined)?.type !== "QUOTE_DOUBLE")
    return undefined;
  const [start = 0] = startsOf(root as Parameters<typeof startsOf>[0]);
  return isFirstOnLine(text, start) ? indentationAt(text, start) : "";
}

/**
 * Formats a non-empty map or list in YAML's block style. Returns its lines. Items of lists that the document has elsewhere
 * are written as they are there.
 */
export function blockLines(value: unknown, { indent, indentSeq, moved }: YamlStyle): readonly string[] {
  const kept: (readonly string[])[] = [];
  const marked = mapItems(value, (item) => {
    const lines = moved?.(item);
    return lines === undefined ? item : `${MARK}${kept.push(lines) - 1}`;
  });
  const lines = stringify(marked, { indent, indentSeq }).replace(/\n$/, "").split("\n");
  if (kept.length === 0) return lines;
  return lines.flatMap((line) => {
    const [, margin = "", at] = marks.exec(line) ?? [];
    return at === undefined ? line : (kept[Number(at)] ?? []).map((each) => (each === "" ? each : margin + each));
  });
}

/** What stands in the place of an item, followed by its number; no YAML has it. */
const MARK = "\u{f0000}";
const marks = new RegExp(`^( *)- "?${MARK}(\\d+)"?$`, "u");

/** Returns a copy of a value in which `change` has replaced items of lists. */
function mapItems(value: unknown, change: (item: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => {
      const changed = change(item);
      return changed === item ? mapItems(item, change) : changed;
    });
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapItems(field, change)]));
}

/**
 * Formats a value for a place inside a line: on one line in YAML; in JSON on lines that are indented by `base`, on one
 * line if that is undefined.
 */
export function inlineText(value: unknown, { json }: YamlStyle, base: string | undefined): string {
  if (json === undefined) return stringify(value, { collectionStyle: "flow", blockQuote: false }).trimEnd();
  if (base === undefined || json === "") return JSON.stringify(value);
  return JSON.stringify(value, null, json).replaceAll("\n", `\n${base}`);
}

/** Formats a scalar, or an empty list or map, for the rest of a line in YAML's block style, where commas need no quotes. */
export function lineText(value: unknown): string {
  return stringify(value, { blockQuote: false }).trimEnd();
}

/** Formats a field for a place in braces: `a: 1`. `base` is as for `inlineText`. */
export function inlineField(name: string, value: unknown, style: YamlStyle, base: string | undefined): string {
  if (style.json === undefined)
    return inlineText({ [name]: value }, style, base)
      .slice(1, -1)
      .trim();
  return `${JSON.stringify(name)}:${style.json === "" ? "" : " "}${inlineText(value, style, base)}`;
}

/**
 * Formats a text in the quotes of its neighbour. Returns undefined if the neighbour has none, if they cannot hold the
 * text, or if `value` is no text.
 */
export function quotedLike(neighbour: Node | undefined, value: unknown): string | undefined {
  const { type } = (neighbour ?? {}) as Partial<Scalar>;
  if (typeof value !== "string") return undefined;
  if (type === "QUOTE_DOUBLE") return JSON.stringify(value);
  if (type === "QUOTE_SINGLE" && /^[\x20-\x7e]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return undefined;
}

/**
 * Formats a text in the place of another in braces, where a comma needs quotes: a plain one gets single quotes with it, and
 * loses them with it, so that it comes back as it was. `text`: `after` as `inlineText` has it. Returns undefined for any other.
 */
export function requoted({ type, value }: Partial<Scalar>, after: unknown, text: string): string | undefined {
  if (!text.startsWith('"')) return type === "QUOTE_SINGLE" && String(value).includes(",") ? text : undefined;
  return type === "PLAIN" && text.includes(",") ? quotedLike({ type: "QUOTE_SINGLE" } as Scalar, after) : undefined;
}

function stringify(value: unknown, options: ToStringOptions): string {
  const document = new Document<Node>(value, { aliasDuplicateObjects: false });
  setStyles(document.contents, options.blockQuote === false);
  const whole = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };
  return document.toString({ ...whole, flowCollectionPadding: true, directives: false, ...options });
}

/**
 * Sets how the scalars and empty collections under a node are written. Not by `visit`, which copies the path of each
 * node: that took a tenth of the time that many manifests take.
 */
function setStyles(node: unknown, isInline: boolean): void {
  if (isScalar(node)) {
    if (typeof node.value === "string" && isQuoted(node.value, isInline)) node.type = "QUOTE_DOUBLE";
  } else if (isPair(node)) {
    setStyles(node.key, isInline);
    setStyles(node.value, isInline);
  } else if (isCollection(node)) {
    if (node.items.length === 0) node.flow = true;
    for (const item of node.items) setStyles(item, isInline);
  }
}

/**
 * Reports whether a text needs quotes: it would be read as something else, or has line breaks that a block scalar
 * cannot hold.
 */
function isQuoted(text: string, isInline: boolean): boolean {
  return plainValue(text) !== text || (text.includes("\n") && (isInline || /\n[\t ]+$/.test(text)));
}
