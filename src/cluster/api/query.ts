/** Parameters of a query by name; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/**
 * Appends a query to a path, percent-encoded: `/path?fieldSelector=metadata.name%3Dx`. Returns the path alone if it is
 * empty.
 */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
