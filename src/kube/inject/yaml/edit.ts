import { isAlias, isMap, isSeq, type Node } from "yaml";
import { isObject } from "../../../core/base/json.ts";
import { readDocument, type YamlDocument } from "./document.ts";
import { changeList } from "./list.ts";
import { changeMap } from "./map.ts";
import type { Place } from "./places.ts";
import { replaceNode } from "./replace.ts";
import { applySplices, type Splice } from "./splice.ts";
import type { Edit } from "./splices.ts";
import { styleOf } from "./style.ts";

/**
 * Returns the splices that make a document read as `after` and leave all else as it is, to the byte. An alias is
 * written out if the anchor's other uses would change.
 * @throws Error if the document is empty, or if the outcome would not read as `after`: a bug
 */
export function editsTo(document: YamlDocument, after: unknown): readonly Splice[] {
  const { root, text } = document;
  if (root === null) throw new Error("an empty document cannot be changed");
  const style = styleOf(document);
  const edit: Edit = { document, style, splices: [], expected: new Map(), change: (...args) => change(edit, ...args) };
  edit.change(root, after, { isFlow: false, column: -style.indent, colon: undefined });
  const changed = applySplices(text, edit.splices);
  const outcome = readDocument(changed, { isEdited: false });
  if (!same(outcome.value, after)) throw new Error(`an edit went wrong:\n${changed}`);
  return edit.splices;
}

function change(edit: Edit, node: Node, after: unknown, place: Place): void {
  const { values, targets } = edit.document;
  if (isAlias(node)) {
    const target = targets.get(node) as Node;
    if (!edit.expected.has(target) || !same(edit.expected.get(target), after)) replaceNode(edit, node, after, place);
    return;
  }
  edit.expected.set(node, after);
  const isSame = same(values.get(node), after);
  // what is the same may still have aliases for what is not
  if (isSame && targets.size === 0) return;
  if (isMap(node) && isObject(after) && changeMap(edit, node as Parameters<typeof changeMap>[1], after)) return;
  if (
    isSeq(node) &&
    Array.isArray(after) &&
    changeList(edit, node as Parameters<typeof changeList>[1], { after, place })
  ) {
    return;
  }
  if (!isSame) replaceNode(edit, node, after, place);
}

function same(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other, true);
}
