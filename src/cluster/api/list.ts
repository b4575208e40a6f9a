import { isObject } from "../../shared/core/json.ts";
import { ApiError, shownPath } from "./api-error.ts";
import type { ApiClient, List } from "./client.ts";
import type { KubeObject } from "./core/objects.ts";
import { type Query, withQuery } from "./query.ts";
import type { RequestOptions } from "./retry.ts";

/**
 * Lists a collection, or the page of it that `path` asks for. `items: null`, as Go writes an empty list, becomes [].
 * Rejects with ApiError if the request fails or the answer is not a list of objects with names.
 */
export async function listAt<T extends KubeObject>(
  api: Pick<ApiClient, "get">,
  path: string,
  asking?: RequestOptions,
): Promise<List<T>> {
  const answer = await api.get<{ metadata: List<T>["metadata"]; items?: unknown }>(path, asking);
  const items = answer.items ?? [];
  if (Array.isArray(items) && items.every(isNamed)) return { ...answer, items };
  const words = `GET ${shownPath(path)}: an answer that is not an API list`;
  throw new ApiError(words, { status: undefined, reason: "Unreachable", retryAfterMs: undefined });
}

/** The most objects of a page. */
const PAGE = 500;

/** Yields a collection by pages of 500 objects (PAGE), so that not all need be in memory. Rejects as `listAt` does. */
export async function* pagesAt<T extends KubeObject>(
  api: Pick<ApiClient, "get">,
  path: string,
  query: Query,
  asking?: RequestOptions,
): AsyncGenerator<List<T>> {
  let rest: string | undefined;
  do {
    const page = await listAt<T>(api, withQuery(path, { ...query, limit: PAGE, continue: rest }), asking);
    yield page;
    rest = page.metadata.continue || undefined;
  } while (rest !== undefined);
}

function isNamed(value: unknown): boolean {
  return isObject(value) && isObject(value.metadata) && typeof value.metadata.name === "string";
}
