/** An object of JSON that somebody else wrote: nothing is known of its fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What stands there, if it is an object; one without fields otherwise. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** What stands there, if it is a list; none otherwise. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Where something is in a document. */
export type Path = readonly (string | number)[];

/** What stands at a path; undefined: nothing. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const part of path) {
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, part);
    found = isThere ? (found as Record<string | number, unknown>)[part] : undefined;
  }
  return found;
}

/** The same with another value at a path that is there. */
export function withValueAt(value: unknown, path: Path, inner: unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return inner;
  const changed = withValueAt((value as Record<string | number, unknown>)[part], rest, inner);
  if (Array.isArray(value)) return value.with(part as number, changed);
  return withField(value as JsonObject, String(part), changed);
}

/** The same with this field, in its place if it is there, else at the end. `__proto__` is a name like any other. */
export function withField(object: JsonObject, name: string, value: unknown): JsonObject {
  const entries = Object.entries(object);
  const isThere = Object.hasOwn(object, name);
  const changed = isThere ? entries.map(([key, old]) => [key, key === name ? value : old] as const) : entries;
  return Object.fromEntries(isThere ? changed : [...changed, [name, value]]);
}

export function withoutField(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

/** `spec.containers[0].command`. */
export function describePath(path: Path): string {
  return path.map((part, at) => (typeof part === "number" ? `[${part}]` : `${at > 0 ? "." : ""}${part}`)).join("");
}
