import { isMap, isSeq, type Node, visit } from "yaml";
import type { YamlDocument } from "./document.ts";
import { type Collection, columnOf, indentationAt, isBlock, isFirstOnLine, startsOf } from "./places.ts";
import type { YamlStyle } from "./text.ts";

/** Returns a document's indentation, as its first nested map and list have it. */
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

function further(inner: Collection, outer: Collection): number | undefined {
  const columns = columnOf(inner) - columnOf(outer);
  return columns >= 0 ? columns : undefined;
}

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
