import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from "yaml";
import { isObject, type Path } from "../../../shared/core/json.ts";
import { MOST_LEVELS, NotYaml, parseNodes, TOO_DEEP } from "./parse.ts";
import { endOf, type Item, startOf } from "./places.ts";
import { scalarValue } from "./scalars.ts";

/** The text of a YAML document, its nodes, and what Kubernetes reads in them. JSON is YAML, too. */
export interface YamlDocument {
  readonly text: string;
  /** Null if there are only comments. */
  readonly root: Node | null;
  /** What Kubernetes reads in the whole document. */
  readonly value: unknown;
  /** What Kubernetes reads in each node. */
  readonly values: ReadonlyMap<Node, unknown>;
  /** The node that each alias stands for. */
  readonly targets: ReadonlyMap<Node, Node>;
}

/**
 * Parses a YAML or JSON document, and reads its values as Kubernetes does, with aliases and merges (`<<`) resolved. If a
 * key is given twice, the last one counts, as for kubectl. With `isEdited: false` it needs less memory, but the result
 * cannot be edited.
 * @throws NotYaml if Kubernetes could not read the text, if its aliases stand for more than 400,000 nodes
 * (`MOST_ALIASED`), or if it has more than 1000 levels (`MOST_LEVELS`)
 */
export function readDocument(text: string, { isEdited = true } = {}): YamlDocument {
  const reading: Reading = {
    text,
    values: new Map(),
    targets: new Map(),
    anchors: new Map(),
    sizes: new Map(),
    heights: new Map(),
    height: 0,
    nodes: 0,
    aliased: 0,
  };
  const { contents: root } = parseNodes(text, isEdited);
  const value = root === null ? null : read(reading, root);
  return { text, root, value, values: reading.values, targets: reading.targets };
}

/**
 * Returns the node at a path, to say in which line it is: the key of a field, or an item of a list. If there is none,
 * returns the last node on the way to it. Returns undefined in an empty document.
 */
export function nodeAt({ root, values, targets }: YamlDocument, path: Path): Node | undefined {
  let node: Node | null = root;
  let found = node;
  for (const part of path) {
    const here: Node | null = (node && targets.get(node)) ?? node;
    if (isMap(here)) {
      const pair: Item | undefined = (here.items as Item[]).findLast(
        ({ key }) => String(values.get(key)) === `${part}`,
      );
      found = pair?.key ?? found;
      node = pair?.value ?? null;
    } else {
      node = isSeq(here) ? ((here.items as Node[])[Number(part)] ?? null) : null;
      found = node ?? found;
    }
  }
  return found ?? undefined;
}

/** Reports whether a pair of a YAML map is a merge: `<<: *defaults`. */
export function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === "<<" && key.type === "PLAIN" && key.tag === undefined;
}

/**
 * Lists the fields that an item of a map sets: its own, or all fields of the maps that it merges (`<<`). If two merged
 * maps have a key, the first one wins. `readAs` returns what a node is read as.
 * @throws NotYaml if it merges something else
 */
export function fieldsOf(pair: Item, readAs: (node: Node) => unknown): readonly (readonly [string, unknown])[] {
  const { key, value } = pair;
  // for the plain key `yes` it is `true`
  if (!isMerge(pair)) return [[String(readAs(key)), value && readAs(value)]];
  const source = isSeq(value) ? (value.items as Node[]).map(readAs) : value && readAs(value);
  const maps: readonly unknown[] = Array.isArray(source) ? source.toReversed() : [source];
  return maps.flatMap((map) => {
    if (!isObject(map)) throw new NotYaml(startOf(key), "<< takes a map, or a list of maps");
    return Object.entries(map);
  });
}

/** The most nodes that aliases may stand for, as in go-yaml. More is an attack. */
const MOST_ALIASED = 400_000;

interface Reading {
  readonly text: string;
  readonly values: Map<Node, unknown>;
  readonly targets: Map<Node, Node>;
  /** The node of each anchor; if several have the same one, the last so far. */
  readonly anchors: Map<string, Node>;
  /** The number of nodes in each node that was read to its end. */
  readonly sizes: Map<Node, number>;
  /** How many levels are in each of those nodes, with what aliases stand for. */
  readonly heights: Map<Node, number>;
  /** The most of the nodes that were read so far at the current level. */
  height: number;
  /** Nodes read so far, those that aliases stand for included. */
  nodes: number;
  /** Those of them that aliases stand for. */
  aliased: number;
}

function read(reading: Reading, node: Node): unknown {
  if (isAlias(node)) return readAlias(reading, node);
  const { anchor } = node as Scalar;
  if (anchor !== undefined) reading.anchors.set(anchor, node);
  const { nodes: before, height: beside } = reading;
  reading.nodes += 1;
  reading.height = 0;
  const value = readInside(reading, node);
  reading.sizes.set(node, reading.nodes - before);
  const height = reading.height + 1;
  if (height > MOST_LEVELS) throw new NotYaml(startOf(node), TOO_DEEP);
  reading.heights.set(node, height);
  reading.height = Math.max(beside, height);
  reading.values.set(node, value);
  return value;
}

function readInside(reading: Reading, node: Node): unknown {
  if (isMap(node)) return readMap(reading, node as YAMLMap<Node, Node | null>);
  if (isSeq(node)) return (node.items as Node[]).map((item) => read(reading, item));
  try {
    return scalarValue(node as Scalar);
  } catch (error) {
    throw new NotYaml(startOf(node), (error as Error).message);
  }
}

function readAlias(reading: Reading, node: Alias): unknown {
  const target = reading.anchors.get(node.source);
  if (target === undefined) throw new NotYaml(startOf(node), `*${node.source}: no &${node.source} comes before it`);
  const size = reading.sizes.get(target);
  if (size === undefined) throw new NotYaml(startOf(node), `*${node.source} is inside &${node.source}`);
  reading.nodes += size;
  reading.aliased += size;
  reading.height = Math.max(reading.height, reading.heights.get(target) as number);
  if (reading.aliased > MOST_ALIASED) {
    throw new NotYaml(startOf(node), `its aliases stand for more than ${MOST_ALIASED} values`);
  }
  const value = reading.values.get(target);
  reading.targets.set(node, target);
  reading.values.set(node, value);
  return value;
}

/**
 * Reports whether a key in braces goes on in the next line. YAML allows that, and go-yaml does not: a `//` of JSON with
 * comments would become a part of the next key.
 */
function isLong(text: string, key: Node): boolean {
  return (key as Scalar).type === "PLAIN" && text.slice(startOf(key), endOf(key)).includes("\n");
}

function readMap(reading: Reading, map: YAMLMap<Node, Node | null>): unknown {
  const fields = new Map<string, unknown>();
  for (const pair of map.items as Item[]) {
    if (map.flow === true && isLong(reading.text, pair.key))
      throw new NotYaml(startOf(pair.key), "a key must be on one line");
    const key = read(reading, pair.key);
    if (typeof key === "object" && key !== null) throw new NotYaml(startOf(pair.key), "a key must be a text");
    if (pair.value !== null) read(reading, pair.value);
    for (const [name, value] of fieldsOf(pair, (node) => reading.values.get(node))) fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
