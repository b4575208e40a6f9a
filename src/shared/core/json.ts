/** A JSON object from outside: its fields must be checked before use. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Reports whether a JSON value is an object, and neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object (not an array), otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Parses a JSON text. Returns undefined if it is not JSON, or if its value is not an object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the value if it is an array, otherwise an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a string, otherwise undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns the strings in the value if it is an array, otherwise an empty list. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((item) => typeof item === "string");
}

/** The place of a value in a JSON document: field names and list indexes, from the root. */
export type Path = readonly (string | number)[];

/** Returns the value at a path, or undefined if there is none. Looks at own properties alone. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const part of path) {
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, part);
    found = isThere ? (found as Record<string | number, unknown>)[part] : undefined;
  }
  return found;
}

/**
 * Returns a deep copy of a JSON value. What stands in it several times, as by an alias of YAML, is copied each time:
 * structuredClone would change all of them at once.
 */
export function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, copyOf(field)])) as T;
}

/** A new value for the place at a path. */
export type Change = readonly [path: Path, value: unknown];

/**
 * Returns a copy of a JSON value with other values at paths, each of which must exist. If one path is within another,
 * the change of the outer one counts. Each list is copied once, however many of its items change.
 */
export function withValuesAt(value: unknown, changes: readonly Change[]): unknown {
  const whole = changes.findLast(([path]) => path.length === 0);
  if (whole !== undefined) return whole[1];
  const inside = Map.groupBy(changes, ([[part]]) => String(part));
  const changed = (part: string, inner: unknown) => {
    const own = inside.get(part);
    return own === undefined ? inner : withValuesAt(inner, own.map(below));
  };
  if (Array.isArray(value)) return value.map((item, at) => changed(String(at), item));
  return Object.fromEntries(Object.entries(objectOf(value)).map(([name, field]) => [name, changed(name, field)]));
}

function below([[, ...path], value]: Change): Change {
  return [path, value];
}

/** Formats a path: `spec.containers[0].command`. */
export function describePath(path: Path): string {
  return path.map((part, at) => (typeof part === "number" ? `[${part}]` : `${at > 0 ? "." : ""}${part}`)).join("");
}

const QUOTE = 0x22;
/** How much is read at a time: the places of millions of escapes would take more memory than the text. */
const PIECE = 65_536;

/**
 * Reports whether a JSON text has more than `most` characters outside its strings, each string counting as one.
 *
 * Ask before parsing, to bound the memory it takes: 3 such characters may become an object of 90 bytes, a string only
 * takes its length. Reading stops at the bound.
 */
export function hasMoreOutsideStrings(text: string, most: number): boolean {
  let count = 0;
  let isInside = false;
  for (let from = 0; from < text.length; ) {
    // without escapes, each quote begins or ends a string; without a JIT, to look at each takes a second for 7 MB
    const piece = text.slice(from, from + PIECE).replaceAll("\\\\", "");
    from += piece.endsWith("\\") ? PIECE - 1 : PIECE; // it ends within an escape
    const plain = piece.replaceAll('\\"', "");
    for (let at = 0; at < plain.length; at += 1) {
      if (isInside) at = plain.indexOf('"', at);
      if (at < 0) break;
      const isQuote = plain.charCodeAt(at) === QUOTE;
      if (!isInside) count += 1;
      if (isQuote) isInside = !isInside;
      if (count > most) return true;
    }
  }
  return false;
}
