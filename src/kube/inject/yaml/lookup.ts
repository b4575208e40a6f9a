import { isMap, isSeq, type Node } from "yaml";
import type { Path } from "../../../core/base/json.ts";
import { fieldNameOf, type YamlDocument } from "./document.ts";
import type { Item } from "./places.ts";

/**
 * Returns the node at a path, to say in which line it is: the key of a field, or an item of a list. If there is none,
 * returns the last node on the way to it. Returns undefined in an empty document.
 */
export function nodeAt(document: YamlDocument, path: Path): Node | undefined {
  let node: Node | null = document.root;
  let found = node;
  for (const part of path) {
    const here: Node | null = (node && document.targets.get(node)) ?? node;
    if (isSeq(here)) node = (here.items as (Node | null)[])[Number(part)] ?? null;
    else if (isMap(here)) {
      const pair: Item | undefined = (here.items as Item[]).findLast(
        (item) => fieldNameOf(item, document) === String(part),
      );
      found = pair?.key ?? found;
      node = pair?.value ?? null;
      continue;
    } else node = null;
    found = node ?? found;
  }
  return found ?? undefined;
}
