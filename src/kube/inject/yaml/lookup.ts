import { isMap, isSeq, type Node } from "yaml";
import type { Path } from "../../../core/base/json.ts";
import { fieldNameOf, type YamlDocument } from "./document.ts";
import type { Item } from "./places.ts";

/** Returns the node at a path, or the last one on the way to it; of a field, its key. */
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
