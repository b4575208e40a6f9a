export type Query = Readonly<Record<string, string | number | undefined>>;

/** `/path?fieldSelector=metadata.name%3Dx`, without what is undefined. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
