import { Document, isCollection, isPair, isScalar, type Node, type Scalar, type ToStringOptions } from "yaml";
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
}

/** Formats a non-empty map or list in YAML's block style. Returns its lines. */
export function blockLines(value: unknown, { indent, indentSeq }: YamlStyle): readonly string[] {
  const text = stringify(value, { indent, indentSeq });
  return text.replace(/\n$/, "").split("\n");
}

/** Formats a value in YAML's flow style (braces and brackets), on one line. */
export function flowText(value: unknown): string {
  return stringify(value, { collectionStyle: "flow", blockQuote: false }).trimEnd();
}

/** Formats the fields of a map in YAML's flow style, without the braces: `a: 1, b: 2`. */
export function flowFields(fields: Readonly<Record<string, unknown>>): string {
  return flowText(fields).slice(1, -1).trim();
}

/**
 * Formats a text in the quotes of its neighbour. Returns undefined if the neighbour has none, if they cannot hold the
 * text, or if `value` is no text.
 */
export function quotedLike(neighbour: Node | null, value: unknown): string | undefined {
  const { type } = (neighbour ?? {}) as Partial<Scalar>;
  if (typeof value !== "string") return undefined;
  if (type === "QUOTE_DOUBLE") return JSON.stringify(value);
  if (type === "QUOTE_SINGLE" && /^[\x20-\x7e]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return undefined;
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
