export type Query = Readonly<Record<string, string | number | undefined>>;

/** Appends a query to a path: `/path?fieldSelector=metadata.name%3Dx`. Undefined values are left out. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
