/** An object of JSON, to be written briefly. */
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

/** Objects with versions by their paths, listed in pages and watched as the API server has it. */
export interface Store {
  readonly objects: Map<string, Loose>;
  readonly watchers: number;
  /** Adds or changes it, and tells those who watch. */
  put(path: string, object: Loose): Loose;
  remove(path: string): void;
  list(collection: string, url: URL): Response;
  /** Undefined: the version that it is to go on from is too old. */
  watch(collection: string, url: URL): Response | undefined;
  /** Ends all watches; `isExpired`: with the word that their version is too old, as do then those that go on from it. */
  cut(isExpired?: boolean): void;
}

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
  // one that matches no more comes as deleted, as it was before (apiserver's storage/cacher)
  const object = is ? after : { ...before, metadata: { ...before.metadata, resourceVersion: String(at) } };
  watcher.send({ type: is ? (was ? "MODIFIED" : "ADDED") : "DELETED", object });
}

/** `/api/v1/pods` has those of all namespaces. */
function isIn(path: string, collection: string): boolean {
  const kind = path.split("/").at(-2);
  if (collection === "/api/v1/pods") return kind === "pods";
  return path.startsWith(`${collection}/`) && !path.slice(collection.length + 1).includes("/");
}

/** The selectors that a reaper uses: of fields, equality; of labels, that they are there, or equality. */
function matches(object: Loose, url: URL): boolean {
  if (object === undefined) return false;
  const fields = (url.searchParams.get("fieldSelector") ?? "").split(",").filter((each) => each !== "");
  const labels = (url.searchParams.get("labelSelector") ?? "").split(",").filter((each) => each !== "");
  const fieldOf = (path: string) => path.split(".").reduce((value, name) => value?.[name], object);
  return (
    fields.every((each) => String(fieldOf(each.split("=")[0] as string)) === each.split("=")[1]) &&
    labels.every((each) => {
      const [name = "", wanted] = each.split("=");
      const value = object.metadata.labels?.[name];
      return value !== undefined && (wanted === undefined || value === wanted);
    })
  );
}
