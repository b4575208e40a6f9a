/** An object of JSON, to be written briefly. */
// biome-ignore lint/suspicious/noExplicitAny: what a test writes, and reads back
type Loose = any;

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

/** One end of a WebSocket. */
export interface Far {
  send(bytes: Uint8Array): void;
  close(): void;
  /** As a connection ends that is cut. */
  cut(): void;
  /** Called with each message. */
  received: (bytes: Uint8Array) => void;
}

/** As much of an API server as a reaper needs, over HTTP: lists in pages, watches, writes; objects by their paths. */
export interface StandInApi extends AsyncDisposable {
  readonly url: string;
  /** `GET /api/v1/pods?...`, in order. */
  readonly requests: string[];
  readonly objects: Map<string, Loose>;
  /** Rights that nobody has: `create pods/exec`. */
  readonly denied: Set<string>;
  /** Adds or changes it, and tells those who watch. */
  put(path: string, object: object): void;
  remove(path: string): void;
  /** Answers in its place, where it has something to say. */
  answer: ((request: Request) => Response | undefined | Promise<Response | undefined>) | undefined;
  /** The far end of what is asked for as a WebSocket: `exec`, `portforward`; without it there is none. */
  stream: ((url: URL, far: Far) => void) | undefined;
  /** Streams that are open now. */
  readonly streams: number;
  /** Ends all watches; `isExpired`: with the word that their version is too old, as do then those that go on from it. */
  cut(isExpired?: boolean): void;
  readonly watchers: number;
}

export function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

export function startStandInApi(): StandInApi {
  const objects = new Map<string, Loose>();
  const watchers = new Set<Watcher>();
  const requests: string[] = [];
  const denied = new Set<string>();
  const history: Change[] = [];
  let version = 100;
  let oldest = 0;
  const tellOne = (watcher: Watcher, { at, path, before, after }: Change): void => {
    if (!isIn(path, watcher.collection)) return;
    const [was, is] = [matches(before, watcher.url), matches(after, watcher.url)];
    if (!was && !is) return;
    // one that matches no more comes as deleted, as it was before (apiserver's storage/cacher)
    const object = is ? after : { ...before, metadata: { ...before.metadata, resourceVersion: String(at) } };
    watcher.send({ type: is ? (was ? "MODIFIED" : "ADDED") : "DELETED", object });
  };
  const tell = (path: string, before: Loose, after: Loose): void => {
    const change = { at: version, path, before, after };
    history.push(change);
    for (const watcher of watchers) tellOne(watcher, change);
  };
  const put = (path: string, object: Loose): Loose => {
    const before = objects.get(path);
    const after = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } };
    objects.set(path, after);
    tell(path, before, after);
    return after;
  };
  const list = (collection: string, url: URL): Response => {
    const all = [...objects].filter(([path, object]) => isIn(path, collection) && matches(object, url));
    const from = Number(url.searchParams.get("continue") ?? 0);
    const to = from + Number(url.searchParams.get("limit") ?? all.length);
    const items = all.slice(from, to).map(([, object]) => object);
    const more = to < all.length ? { continue: String(to) } : {};
    return Response.json({ metadata: { resourceVersion: String(version), ...more }, items });
  };
  const watch = (collection: string, url: URL): Response => {
    const since = Number(url.searchParams.get("resourceVersion"));
    if (since < oldest) return status(410, "Expired", "too old");
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
  };
  const write = async (method: string, path: string, request: Request): Promise<Response> => {
    const body: Loose = await request.json();
    const target = method === "POST" ? `${path}/${body.metadata.name}` : path;
    if (method === "POST" && objects.has(target)) return status(409, "AlreadyExists", "it is there");
    const known = objects.get(target)?.metadata.resourceVersion;
    if (method === "PUT" && known !== body.metadata.resourceVersion) return status(409, "Conflict", "it was changed");
    return Response.json(put(target, body));
  };
  let streams = 0;
  const server = Bun.serve<Upgraded>({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    error: () => new Response(null, { status: 500 }), // a test breaks its answer
    async fetch(request, server) {
      const url = new URL(request.url);
      requests.push(`${request.method} ${url.pathname}${url.search}`);
      const protocol = request.headers.get("sec-websocket-protocol");
      if (protocol !== null && standIn.stream !== undefined) {
        const data: Upgraded = { url, received: () => undefined };
        return server.upgrade(request, { data, headers: { "sec-websocket-protocol": protocol } })
          ? undefined
          : refused();
      }
      const answer = await standIn.answer?.(request);
      if (answer !== undefined) return answer;
      if (url.pathname.endsWith("/selfsubjectaccessreviews")) return review(await request.json(), denied);
      if (request.method === "PUT" || request.method === "POST") return write(request.method, url.pathname, request);
      if (request.method !== "GET") return status(405, "MethodNotAllowed", request.method);
      if (url.searchParams.has("watch")) return watch(url.pathname, url);
      if (/\/(pods|namespaces|events)$/.test(url.pathname)) return list(url.pathname, url);
      const object = objects.get(url.pathname);
      return object === undefined ? status(404, "NotFound", `${url.pathname} not found`) : Response.json(object);
    },
    websocket: {
      open(socket) {
        streams += 1;
        standIn.stream?.(socket.data.url, farOf(socket));
      },
      message: (socket, bytes) => socket.data.received(Buffer.from(bytes)),
      close() {
        streams -= 1;
      },
    },
  });
  const standIn: StandInApi = {
    url: server.url.href.replace(/\/$/, ""),
    requests,
    objects,
    denied,
    put,
    remove(path) {
      const before = objects.get(path);
      objects.delete(path);
      version += 1;
      tell(path, before, undefined);
    },
    answer: undefined,
    stream: undefined,
    get streams() {
      return streams;
    },
    cut(isExpired = false) {
      if (isExpired) oldest = ++version;
      const error = { type: "ERROR", object: { code: 410, reason: "Expired", message: "too old resource version" } };
      for (const watcher of watchers) {
        if (isExpired) watcher.send(error);
        watcher.end();
      }
    },
    get watchers() {
      return watchers.size;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return standIn;
}

function review({ spec: { resourceAttributes: asked } }: Loose, denied: ReadonlySet<string>): Response {
  const resource = [asked.resource, asked.subresource].filter(Boolean).join("/");
  return Response.json(
    { metadata: {}, status: { allowed: !denied.has(`${asked.verb} ${resource}`) } },
    { status: 201 },
  );
}

interface Upgraded {
  readonly url: URL;
  received: (bytes: Uint8Array) => void;
}

function farOf(socket: Bun.ServerWebSocket<Upgraded>): Far {
  return {
    send: (bytes) => void socket.sendBinary(bytes),
    close: () => socket.close(),
    cut: () => socket.terminate(),
    get received() {
      return socket.data.received;
    },
    set received(received) {
      socket.data.received = received;
    },
  };
}

function refused(): Response {
  return status(400, "BadRequest", "Upgrade request required");
}

/** A Status, as the API server refuses. */
export function status(code: number, reason: string, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ kind: "Status", status: "Failure", code, reason, message }, { status: code, headers });
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
