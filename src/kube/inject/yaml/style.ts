import { isMap, isSeq, type Node, visit } from "yaml";
import type { YamlDocument } from "./document.ts";
import { type Collection, columnOf, indentationAt, isBlock, isFirstOnLine, startsOf } from "./places.ts";
import type { YamlStyle } from "./text.ts";

/**
 * Returns how a document is written: its line breaks, and the indentation of its first nested map and list (2 if there
 * is none).
 */
export function styleOf({ text, root }: YamlDocument): YamlStyle {
  const newline = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
  let indent: number | undefined;
  let dash: number | undefined;
  visit(root, {
    Map(_, map) {
      if (!isBlock(map as Collection)) return;
      for (const { value } of map.items) {
        if (isMap(value) && isBlock(value as Collection)) indent ??= further(value as Collection, map as Collection);
        if (isSeq(value) && isBlock(value as Collection)) dash ??= further(value as Collection, map as Collection);
      }
      return indent !== undefined && dash !== undefined ? visit.BREAK : undefined;
    },
  });
  return { newline, indent: indent ?? 2, indentSeq: (dash ?? indent ?? 2) > 0, json: jsonIndent(text, root) };
}

/**
 * Returns how many columns a collection stands further right than the one around it; undefined if it stands further
 * left.
 */
function further(inner: Collection, outer: Collection): number | undefined {
  const columns = columnOf(inner) - columnOf(outer);
  return columns >= 0 ? columns : undefined;
}

/**
 * Returns the indentation of the first field of a JSON object; empty if the object is on one line; undefined if the
 * text is no JSON object.
 */
function jsonIndent(text: string, root: Node | null): string | undefined {
  if (!isMap(root) || isBlock(root as Collection) || !isJson(text)) return undefined;
  const [start] = startsOf(root as Collection);
  return start !== undefined && isFirstOnLine(text, start) ? indentationAt(text, start) : "";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ""));
    return true;
  } catch {
    return false;
  }
}
