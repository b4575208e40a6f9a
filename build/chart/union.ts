import type { Manifest } from "../../src/kube/manifests/installation.ts";
import type { Cases } from "./conditions.ts";

// The union of what is printed in all cases: each line once, with the cases in which it is there.

/** An entry of a map, an item of a list, a manifest or a comment. */
export interface Part {
  /** By which the same part is found again in another case. */
  readonly id: string;
  /** The key of an entry. */
  readonly key?: string | undefined;
  readonly comment?: string;
  /** The value; undefined if it has parts. */
  readonly value?: unknown;
  /** The parts of its value, if that is a map or a list that is not empty. */
  readonly parts?: Parts | undefined;
  where: Cases;
}

export interface Parts {
  readonly kind: "map" | "list";
  readonly all: Part[];
}

/** Adds the manifests of one case. */
export function addManifests(union: Parts, manifests: readonly Manifest[], theCase: Cases): void {
  const children = manifests.map(({ object, about, notes = {} }): Child => {
    const { kind, metadata } = object;
    const value = about === undefined ? object : { [COMMENT]: about, ...object };
    return { id: `${kind} ${metadata.namespace} ${metadata.name}`, value, notes };
  });
  add(union, children, theCase);
}

/** The key of what is not an entry, but a comment before all others. */
const COMMENT = "#";

interface Child {
  readonly id: string;
  readonly key?: string;
  readonly comment?: string;
  readonly value?: unknown;
  /** The comments on fields inside, by their paths from here. */
  readonly notes: Readonly<Record<string, string>>;
}

function add({ all }: Parts, children: readonly Child[], theCase: Cases): void {
  let at = 0;
  for (const child of children) {
    let found = all.findIndex((part, index) => index >= at && part.id === child.id);
    if (found === -1) {
      found = at;
      all.splice(at, 0, newPart(child));
    }
    const part = all[found] as Part;
    part.where |= theCase;
    if (part.parts !== undefined) add(part.parts, childrenOf(child.value as object, child.notes), theCase);
    at = found + 1;
  }
}

function newPart({ id, key, comment, value }: Child): Part {
  if (comment !== undefined) return { id, comment, where: 0n };
  if (!hasParts(value)) return { id, key, value, where: 0n };
  return { id, key, parts: { kind: Array.isArray(value) ? "list" : "map", all: [] }, where: 0n };
}

function childrenOf(value: object, notes: Child["notes"]): readonly Child[] {
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, each]): readonly Child[] => {
    if (key === COMMENT) return [commentOf(String(each))];
    const inside = Object.entries(notes).filter(([path]) => path.startsWith(`${key}.`));
    const child = {
      value: each,
      notes: Object.fromEntries(inside.map(([path, note]) => [path.slice(key.length + 1), note])),
      ...(isList ? { id: idOf(each) } : { id: `${key}: ${hasParts(each) ? Array.isArray(each) : idOf(each)}`, key }),
    };
    const note = notes[key];
    return note === undefined ? [child] : [commentOf(note), child];
  });
}

function commentOf(comment: string): Child {
  return { id: `# ${comment}`, comment, notes: {} };
}

/** Returns the name of a list's item, if it has one. */
function idOf(value: unknown): string {
  const named = typeof value === "object" && value !== null && "name" in value ? value.name : value;
  return JSON.stringify(named);
}

function hasParts(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}
