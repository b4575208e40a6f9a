import type { ApiClient } from "../api/client.ts";
import type { KubeObject } from "../api/core/objects.ts";
import { listAt } from "../api/list.ts";
import { withQuery } from "../api/query.ts";
import { keepTrying, type Trying } from "./keep-trying.ts";

/** The object to follow. */
interface Followed {
  /** The API path of its collection: `/api/v1/namespaces/x/secrets`. */
  readonly collection: string;
  readonly name: string;
}

/**
 * Lists and watches one object by name until the signal is aborted; a Role for this name alone suffices. Calls `seen`
 * with the object at once, at each change, and whenever a watch begins again; with undefined if it does not exist. Logs
 * failures of the API and tries again; rejects only on a bug.
 */
export async function followObject<T extends KubeObject>(
  api: ApiClient,
  followed: Followed,
  seen: (object: T | undefined) => void,
  trying: Omit<Trying, "message">,
): Promise<void> {
  const message = "cannot watch an object: retrying";
  const { signal } = trying;
  await keepTrying(() => once(api, followed, { seen, signal }), { message, ...trying });
}

interface Watching<T> {
  readonly seen: (object: T | undefined) => void;
  readonly signal: AbortSignal;
}

/**
 * Lists once, and watches until the watch ends. An expired version (410) ends it like any failure: the caller lists
 * again.
 */
async function once<T extends KubeObject>(
  api: ApiClient,
  { collection, name }: Followed,
  { seen, signal }: Watching<T>,
): Promise<void> {
  const fieldSelector = `metadata.name=${name}`;
  const list = await listAt<T>(api, withQuery(collection, { fieldSelector }), { signal, retries: 0 });
  seen(list.items[0]);
  const { resourceVersion } = list.metadata;
  for await (const event of api.watch<T>(collection, { fieldSelector, resourceVersion }, signal)) {
    if (event.type !== "BOOKMARK") seen(event.type === "DELETED" ? undefined : event.object);
  }
}
