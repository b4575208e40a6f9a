import { isScalar, type Node, type Pair } from "yaml";

/** The error for a text that is no YAML that Kubernetes could read. `offset` says where in the text. */
export class NotYaml extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Returns the offset at which a node begins, after its anchor and tag. */
export function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/** Reports whether a pair of a YAML map is a merge: `<<: *defaults`. */
export function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === "<<" && key.type === "PLAIN" && key.tag === undefined;
}
