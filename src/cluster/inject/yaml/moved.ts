import { isMap, type Node, visit, type YAMLMap, type YAMLSeq } from "yaml";
import { isObject, type JsonObject } from "../../../shared/core/json.ts";
import { readDocument, type YamlDocument } from "./document.ts";
import { NotYaml } from "./parse.ts";
import { columnOf, endOfItem, type Item, isBlock, lineEnd, lineStart, startsOf } from "./places.ts";

/** The field that an item gets or loses when it moves: with it, a container is a native sidecar. */
const FIELD = "restartPolicy";

/**
 * Returns a function that finds the lines of a list's item which has a value, from its dash on, so that an item that moves
 * to another list keeps its comments and quotes. The item may have a `restartPolicy` more, or less. The function returns
 * undefined if there is none, or if its text cannot stand elsewhere.
 */
export function movedItems(document: YamlDocument): (value: unknown) => readonly string[] | undefined {
  let items: ReadonlyMap<unknown, readonly ListItem[]> | undefined;
  return (value) => {
    if (!isObject(value) || typeof value.name !== "string" || document.targets.size > 0) return undefined;
    items ??= namedItems(document);
    const { [FIELD]: own, ...rest } = value;
    for (const item of items.get(value.name) ?? []) {
      const { [FIELD]: there, ...others } = document.values.get(item.map) as JsonObject;
      if (!Bun.deepEquals(rest, others, true)) continue;
      const lines = linesOf(document.text, item, own, there);
      if (lines !== undefined && readsAs(lines, value)) return lines;
    }
    return undefined;
  };
}

/** An item of a block list that is a map. */
interface ListItem {
  readonly list: YAMLSeq<Node>;
  readonly at: number;
  readonly map: YAMLMap<Node, Node | null>;
}

function namedItems({ root, values }: YamlDocument): ReadonlyMap<unknown, readonly ListItem[]> {
  const named = new Map<unknown, ListItem[]>();
  visit(root, {
    Seq(_, list) {
      if (!isBlock(list as Node)) return;
      for (const [at, map] of (list.items as Node[]).entries()) {
        if (!isMap(map)) continue;
        const { name } = values.get(map) as JsonObject;
        named.set(name, [
          ...(named.get(name) ?? []),
          { list: list as ListItem["list"], at, map: map as ListItem["map"] },
        ]);
      }
    },
  });
  return named;
}

/**
 * Returns the lines of an item, from its dash on, without the list's indentation. `own` and `there`: the restartPolicy that
 * it gets, and that it has; undefined: none.
 */
function linesOf(
  text: string,
  { list, at, map }: ListItem,
  own: unknown,
  there: unknown,
): readonly string[] | undefined {
  const [start, column] = [startsOf(list)[at] as number, columnOf(list)];
  const end = withComment(text, endOfItem(list, at));
  let source = text.slice(start, end);
  if (!isBlock(map)) {
    const field = own === undefined ? "" : `, ${FIELD}: ${own}`;
    const close = source.lastIndexOf("}");
    const inner = source.slice(0, close);
    const fields = inner.trimEnd();
    source = fields.replace(/, *restartPolicy: *\w+$/, "") + field + inner.slice(fields.length) + source.slice(close);
  } else if (own === undefined && there !== undefined) {
    const field = (map.items as Item[]).findIndex(({ key }) => (key as { readonly value?: unknown }).value === FIELD);
    const [from, to] = [lineStart(text, startsOf(map)[field] as number), lineEnd(text, endOfItem(map, field))];
    if (from <= start) return undefined;
    source = text.slice(start, from) + text.slice(Math.min(to, end), end);
  }
  const lines = source.trimEnd().split(/\r?\n/);
  const margin = " ".repeat(column);
  if (lines.slice(1).some((line) => line.trim() !== "" && !line.startsWith(margin))) return undefined;
  const moved = lines.map((line, row) => (row === 0 ? line : line.slice(column)));
  if (own === undefined || there !== undefined || !isBlock(map)) return moved;
  return [...moved, `${" ".repeat(columnOf(map) - column)}${FIELD}: ${own}`];
}

/** Returns the offset behind a comment that follows on the line; `at` if there is none. */
function withComment(text: string, at: number): number {
  const rest = text[at - 1] === "\n" ? null : /^[ \t]*#[^\r\n]*/.exec(text.slice(at, lineEnd(text, at)));
  return at + (rest?.[0].length ?? 0);
}

function readsAs(lines: readonly string[], value: unknown): boolean {
  try {
    return Bun.deepEquals(readDocument(lines.join("\n"), { isEdited: false }).value, [value], true);
  } catch (error) {
    if (error instanceof NotYaml) return false;
    throw error;
  }
}
