import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from "yaml";
import { isObject } from "../../../core/base/json.ts";
import { isMerge, NotYaml, startOf } from "./nodes.ts";
import type { Item } from "./places.ts";
import { scalarValue } from "./scalars.ts";

/** The value that Kubernetes reads in each node (`values`), and the node that each alias stands for (`targets`). */
export interface Values {
  readonly values: ReadonlyMap<Node, unknown>;
  readonly targets: ReadonlyMap<Node, Node>;
}

/** The most nodes that aliases may stand for, as in go-yaml. More is an attack. */
const MOST_ALIASED = 400_000;

interface Reading {
  readonly values: Map<Node, unknown>;
  readonly targets: Map<Node, Node>;
  /** The node of each anchor; if several have the same one, the last so far. */
  readonly anchors: Map<string, Node>;
  /** The number of nodes in each node that was read to its end. */
  readonly sizes: Map<Node, number>;
  /** Nodes read so far, those that aliases stand for included. */
  nodes: number;
  /** Those of them that aliases stand for. */
  aliased: number;
}

/**
 * Reads the values of all nodes as Kubernetes does, with aliases and merges (`<<`) resolved.
 * @throws NotYaml if an alias has no anchor before it, or stands inside it; if aliases stand for more than 400,000
 * nodes (`MOST_ALIASED`); if a key is a map or list; or if a tag does not allow its value
 */
export function readValues(root: Node | null): Values {
  const reading: Reading = {
    values: new Map(),
    targets: new Map(),
    anchors: new Map(),
    sizes: new Map(),
    nodes: 0,
    aliased: 0,
  };
  if (root !== null) read(reading, root);
  return reading;
}

function read(reading: Reading, node: Node): unknown {
  if (isAlias(node)) return readAlias(reading, node);
  const { anchor } = node as Scalar;
  if (anchor !== undefined) reading.anchors.set(anchor, node);
  const before = reading.nodes;
  reading.nodes += 1;
  const value = readInside(reading, node);
  reading.sizes.set(node, reading.nodes - before);
  reading.values.set(node, value);
  return value;
}

function readInside(reading: Reading, node: Node): unknown {
  if (isMap(node)) return readMap(reading, node.items as Item[]);
  if (isSeq(node)) {
    return (node.items as (Node | null)[]).map((item) => (item === null ? null : read(reading, item)));
  }
  return isScalar(node) ? readScalar(node) : undefined;
}

function readAlias(reading: Reading, node: Alias): unknown {
  const target = reading.anchors.get(node.source);
  if (target === undefined) throw new NotYaml(startOf(node), `*${node.source}: no &${node.source} stands before it`);
  const size = reading.sizes.get(target);
  if (size === undefined) throw new NotYaml(startOf(node), `*${node.source} stands inside &${node.source}`);
  reading.nodes += size;
  reading.aliased += size;
  if (reading.aliased > MOST_ALIASED) {
    throw new NotYaml(startOf(node), `its aliases stand for more than ${MOST_ALIASED} values`);
  }
  reading.targets.set(node, target);
  reading.values.set(node, reading.values.get(target));
  return reading.values.get(target);
}

function readScalar(node: Scalar): unknown {
  try {
    return scalarValue(node);
  } catch (error) {
    throw new NotYaml(startOf(node), (error as Error).message);
  }
}

function readMap(reading: Reading, pairs: readonly Item[]): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  for (const pair of pairs) {
    const key = read(reading, pair.key);
    if (typeof key === "object" && key !== null) throw new NotYaml(startOf(pair.key), "a key must be a text");
    const value = pair.value === null ? null : read(reading, pair.value);
    if (!isMerge(pair)) fields.set(String(key), value);
    else for (const [name, each] of merged(pair, value)) fields.set(name, each);
  }
  return Object.fromEntries(fields);
}

/** Lists the fields that a merge (`<<`) gives. Of several maps the first that has a key wins. */
function merged({ key }: Item, value: unknown): readonly (readonly [string, unknown])[] {
  const maps: readonly unknown[] = Array.isArray(value) ? value.toReversed() : [value];
  return maps.flatMap((map) => {
    if (!isObject(map)) throw new NotYaml(startOf(key), "<< takes a map, or a list of maps");
    return Object.entries(map);
  });
}
