import { isAlias, isMap, isSeq, type Node, type YAMLMap, type YAMLSeq } from "yaml";
import { isObject } from "../../../shared/core/json.ts";
import { readDocument, type YamlDocument } from "./document.ts";
import { addSplice, indented, insertLines, type Position, type YamlEdit } from "./items.ts";
import { changeList } from "./list.ts";
import { changeMap } from "./map.ts";
import { movedItems } from "./moved.ts";
import { NotYaml } from "./parse.ts";
import { endOf, indentationAt, isBlock, isFirstOnLine, lineEnd, lineStart, startOf } from "./places.ts";
import { applySplices, inOrder, type Splice } from "./splice.ts";
import { blockLines, inlineText, lineText, quotedLike, requoted, styleOf } from "./style.ts";
import { isEmpty, splitWritten, type Written } from "./written.ts";

/**
 * Returns the splices that make a document read as `after` and leave all else as it is, to the byte. An alias is
 * written out if the anchor's other uses would change. `written`: how fields are to be written if nothing is in them.
 * @throws Error if the document is empty, or if the outcome would not read as `after`: a bug
 */
export function editsTo(document: YamlDocument, after: unknown, written: Written = none): readonly Splice[] {
  const { root, text } = document;
  if (root === null) throw new Error("an empty document cannot be changed");
  const style = { ...styleOf(document), moved: movedItems(document) };
  const edit: YamlEdit = {
    document,
    style,
    written,
    splices: [],
    expected: new Map(),
    change: (...args) => change(edit, ...args),
  };
  edit.change(root, after, { isFlow: false, column: -style.indent, colon: undefined });
  // a block scalar that keeps its last empty lines (`|+`) needs the line break
  for (const splices of [keepEnd(edit), edit.splices]) if (readsAs(applySplices(text, splices), after)) return splices;
  if (written.size > 0) return editsTo(document, after); // anybody may have written these
  throw new Error(`an edit went wrong:\n${applySplices(text, edit.splices)}`);
}

const none: Written = new Map();

function readsAs(text: string, value: unknown): boolean {
  try {
    return isSame(readDocument(text, { isEdited: false }).value, value);
  } catch (error) {
    if (error instanceof NotYaml) return false;
    throw error;
  }
}

/** Returns the splices of an edit; those at the end of a text without a last line break are made such that it has none. */
function keepEnd({ document: { text }, splices }: YamlEdit): readonly Splice[] {
  if (text.endsWith("\n")) return splices;
  const kept = [...inOrder(splices)];
  let from = text.length;
  const last: Splice[] = [];
  for (let splice = kept.at(-1); splice?.to === from; splice = kept.at(-1)) {
    last.unshift(splice);
    kept.pop();
    from = splice.from;
  }
  if (last.length === 0) return splices;
  const before = text.slice(0, from);
  let tail = "";
  for (const splice of last) {
    // what is added at the end begins with the line break of the last line, which may be gone
    const isBroken = splice.from === text.length && (tail === "" ? before : tail).endsWith("\n");
    tail += isBroken ? splice.text.replace(/^\r?\n/, "") : splice.text;
  }
  if (tail === "" && from < text.length) from -= /\r?\n$/.exec(before)?.[0].length ?? 0;
  return [...kept, { from, to: text.length, text: tail.replace(/\r?\n$/, "") }];
}

function change(edit: YamlEdit, node: Node, after: unknown, position: Position): void {
  const { document, expected } = edit;
  if (isAlias(node)) {
    const target = document.targets.get(node) as Node;
    if (!expected.has(target) || !isSame(expected.get(target), after)) replaceNode(edit, node, after, position);
    return;
  }
  expected.set(node, after);
  const isChanged = !isSame(document.values.get(node), after);
  // what is the same may still have aliases for what is not
  if (!isChanged && document.targets.size === 0) return;
  const isDone =
    (isMap(node) && isObject(after) && changeMap(edit, node as YAMLMap<Node, Node | null>, after)) ||
    (isSeq(node) && Array.isArray(after) && changeList(edit, node as YAMLSeq<Node>, after));
  if (!isDone && isChanged) replaceNode(edit, node, after, position);
}

function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other, true);
}

/** Adds to the edit the splices that replace a node's value, in the document's style. Its anchor, tag and quotes stay. */
function replaceNode(edit: YamlEdit, node: Node, after: unknown, { isFlow, column, colon }: Position): void {
  const { text } = edit.document;
  // where nothing stands, the parser's start is that of the comment behind it
  const isMissing = !isFlow && colon !== undefined && startOf(node) === endOf(node);
  const [from, end] = isMissing ? [colon, colon] : [startOf(node), endOf(node) - breakAt(text, node)];
  // a block on the colon's own line, after `? key`, is written as one after a dash
  const isBelow = colon !== undefined && isBlock(node) && isFirstOnLine(text, from);
  if (isFlow || isInline(after)) {
    const written = isEmpty(after) ? splitWritten(edit.written.get(node)) : undefined;
    const unquoted = isFlow ? inlineText(after, edit.style, indentationAt(text, from)) : lineText(after);
    const inFlow = isFlow ? (written?.token ?? requoted(node, after, unquoted)) : undefined;
    const inline = inFlow ?? quotedLike(node, after) ?? unquoted;
    if (!isBelow) return addSplice(edit, from, end, (isFlow || isAfterBlank(text, from) ? "" : " ") + inline);
    const last = lineBreakBefore(text, lineStart(text, from));
    const kept = text
      .slice(colon, last)
      .replaceAll("\r\n", "\n")
      .slice(0, written?.kept ?? 0);
    const at = Math.min(last, colon + kept.replaceAll("\n", edit.style.newline).length);
    addSplice(edit, at, at, written?.own ?? (after === null ? "" : ` ${inline}`));
    return addSplice(edit, last, end, "");
  }
  if (!isBelow && (colon === undefined || isBlock(node))) {
    const lines = indented(blockLines(after, edit.style), column + 2);
    return addSplice(edit, from, end, lines.join("\n").trimStart());
  }
  const { indent, indentSeq } = edit.style;
  const lines = indented(blockLines(after, edit.style), column + (Array.isArray(after) && !indentSeq ? 0 : indent));
  addSplice(edit, blankStart(text, from), end, "");
  insertLines(edit, lineEnd(text, endOf(node)), lines);
}

/** Reports whether a value stands on the line of its key: a scalar, or an empty list or map. */
function isInline(value: unknown): boolean {
  return isEmpty(value) || (!isObject(value) && !Array.isArray(value));
}

/** Returns the length of the line break with which a node ends, as block scalars do; 0 if it does not. */
function breakAt(text: string, node: Node): number {
  const end = endOf(node);
  return end === startOf(node) ? 0 : end - lineBreakBefore(text, end);
}

/** Returns where the line break before an offset starts; the offset if there is none. */
function lineBreakBefore(text: string, at: number): number {
  if (text[at - 1] !== "\n") return at;
  return text[at - 2] === "\r" ? at - 2 : at - 1;
}

function isAfterBlank(text: string, at: number): boolean {
  return at === 0 || /\s/.test(text[at - 1] as string);
}

/** Returns where the blanks and line breaks before an offset start. */
function blankStart(text: string, at: number): number {
  let start = at;
  while (isAfterBlank(text, start) && start > 0) start -= 1;
  return start;
}
