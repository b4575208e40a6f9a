/** Any JSON, for tests that read and write its fields without checks. */
// biome-ignore lint/suspicious/noExplicitAny: what a test writes, and reads back
export type Loose = any;

interface Change {
  readonly at: number;
  readonly path: string;
  readonly before: Loose;
  readonly after: Loose;
}

interface Watcher {
  readonly collection: string;
  readonly url: URL;
  send(line: object): void;
  end(): void;
}

/** Objects with resource versions, by their paths; they are listed in pages and watched as in the API server. */
export interface Store {
  /** The objects by path. A change that is made here directly is not told to those that watch. */
  readonly objects: Map<string, Loose>;
  /** The number of watches that are open. */
  readonly watchers: number;
  /**
   * Adds or replaces an object, with a new resourceVersion, and tells those that watch it. Returns the stored object.
   */
  put(path: string, object: Loose): Loose;
  /** Removes an object, and tells those that watch it. */
  remove(path: string): void;
  /** Answers a list; `url` has the selectors, `limit` and `continue`. */
  list(collection: string, url: URL): Response;
  /** Answers a watch from the `resourceVersion` in `url` on; undefined if that version is too old. */
  watch(collection: string, url: URL): Response | undefined;
  /**
   * Ends all watches. With `isExpired` they end with an error, 410 Expired, and a watch from an older version fails
   * later.
   */
  cut(isExpired?: boolean): void;
}

/** Creates an empty store. */
export function createStore(): Store {
  const objects = new Map<string, Loose>();
  const watchers = new Set<Watcher>();
  const history: Change[] = [];
  let version = 100;
  let oldest = 0;
  const tell = (path: string, before: Loose, after: Loose): void => {
    const change = { at: version, path, before, after };
    history.push(change);
    for (const watcher of watchers) tellOne(watcher, change);
  };
  return {
    objects,
    get watchers() {
      return watchers.size;
    },
    put(path, object) {
      const before = objects.get(path);
      const after = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } };
      objects.set(path, after);
      tell(path, before, after);
      return after;
    },
    remove(path) {
      const before = objects.get(path);
      objects.delete(path);
      version += 1;
      tell(path, before, undefined);
    },
    list(collection, url) {
      const all = [...objects].filter(([path, object]) => isIn(path, collection) && matches(object, url));
      const from = Number(url.searchParams.get("continue") ?? 0);
      const to = from + Number(url.searchParams.get("limit") ?? all.length);
      const items = all.slice(from, to).map(([, object]) => object);
      const more = to < all.length ? { continue: String(to) } : {};
      return Response.json({ metadata: { resourceVersion: String(version), ...more }, items });
    },
    watch(collection, url) {
      const since = Number(url.searchParams.get("resourceVersion"));
      if (since < oldest) return undefined;
      let watcher: Watcher;
      const body = new ReadableStream({
        start(controller) {
          const send = (line: object) => controller.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
          const end = (): void => {
            if (watchers.delete(watcher)) controller.close();
          };
          watcher = { collection, url, send, end };
          watchers.add(watcher);
          for (const change of history) if (change.at > since) tellOne(watcher, change);
          send({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(version) } } });
        },
        cancel: () => void watchers.delete(watcher),
      });
      return new Response(body, { headers: { "content-type": "application/json" } });
    },
    cut(isExpired = false) {
      if (isExpired) oldest = ++version;
      const error = { type: "ERROR", object: { code: 410, reason: "Expired", message: "too old resource version" } };
      for (const watcher of watchers) {
        if (isExpired) watcher.send(error);
        watcher.end();
      }
    },
  };
}

function tellOne(watcher: Watcher, { at, path, before, after }: Change): void {
  if (!isIn(path, watcher.collection)) return;
  const [was, is] = [matches(before, watcher.url), matches(after, watcher.url)];
  if (!was && !is) return;
  // an object that no longer matches the selectors comes as deleted, as it was before (apiserver's storage/cacher)
  const object = is ? after : { ...before, metadata: { ...before.metadata, resourceVersion: String(at) } };
  watcher.send({ type: is ? (was ? "MODIFIED" : "ADDED") : "DELETED", object });
}

/** Reports whether an object's path is in a collection; `/api/v1/pods` has the pods of all namespaces, `/api/v1/events` their Events. */
function isIn(path: string, collection: string): boolean {
  const kind = path.split("/").at(-2);
  if (collection === "/api/v1/pods" || collection === "/api/v1/events") return collection === `/api/v1/${kind}`;
  return path.startsWith(`${collection}/`) && !path.slice(collection.length + 1).includes("/");
}

/** Reports whether an object matches the selectors in `url`: for fields (in)equality, for labels presence or equality. */
function matches(object: Loose, url: URL): boolean {
  if (object === undefined) return false;
  const fields = (url.searchParams.get("fieldSelector") ?? "").split(",").filter((each) => each !== "");
  const labels = (url.searchParams.get("labelSelector") ?? "").split(",").filter((each) => each !== "");
  const fieldOf = (path: string) => path.split(".").reduce((value, name) => value?.[name], object);
  return (
    fields.every((each) => {
      const [, path = "", not, wanted] = /^(.*?)(!?)=(.*)$/.exec(each) ?? [];
      return (String(fieldOf(path)) === wanted) === (not === "");
    }) &&
    labels.every((each) => {
      const [name = "", wanted] = each.split("=");
      const value = object.metadata.labels?.[name];
      return value !== undefined && (wanted === undefined || value === wanted);
    })
  );
}
