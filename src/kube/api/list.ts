import { isObject } from "../../core/base/json.ts";
import { redactUrl } from "../../core/base/redact.ts";
import { ApiError } from "./api-error.ts";
import type { ApiClient, KubeObject, List } from "./client.ts";
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
  const words = `GET ${redactUrl(path)}: an answer that is no list of the API`;
  throw new ApiError(words, { status: undefined, reason: "Unreachable", retryAfterMs: undefined });
}

function isNamed(value: unknown): boolean {
  return isObject(value) && isObject(value.metadata) && typeof value.metadata.name === "string";
}
