import { applyPatch, type Operation } from "rfc6902";
import { type ApiClient, createApiClient } from "../../../src/cluster/api/client.ts";
import type { Access } from "../../../src/cluster/api/identity.ts";
import { createStore, type Loose, type Store } from "./store.ts";

/**
 * What the far end of a stream, the API server with a kubelet behind it, does when the stream opens or a message comes.
 */
export interface StreamEnd {
  open?(far: Far, url: URL): void;
  message?(far: Far, bytes: Uint8Array, url: URL): void;
}

/** The far end of an open stream. */
export interface Far {
  send(bytes: Uint8Array): void;
  close(): void;
  /** Ends the connection without a close, as if it were cut. */
  cut(): void;
}

type Answer = Response | undefined | Promise<Response | undefined>;

/**
 * A stand-in for an API server, over HTTP and WebSockets: objects by their paths, lists in pages, watches, writes, exec
 * and port-forward. `await using` it. A test adds to it with `answer`.
 */
export interface StandInApi extends AsyncDisposable, Pick<Store, "objects" | "remove" | "cut" | "watchers"> {
  /** A client of it. */
  readonly api: ApiClient;
  readonly url: string;
  /** `METHOD path?query`, or `STREAM path?query protocol`, of each request so far. */
  readonly requests: string[];
  /** The headers of each request so far. */
  readonly headers: Headers[];
  /** The permissions that an access review denies, such as `create pods/exec`; it allows all others. */
  readonly denied: Set<string>;
  /** Adds or replaces an object, and tells those that watch it. */
  put(path: string, object: object): void;
  /** Answers a request in its place; a result of undefined leaves the request to the stand-in. */
  answer: ((request: Request, url: URL) => Answer) | undefined;
  /** The far end of exec's streams. */
  exec: StreamEnd;
  /** The far end of port-forward's streams. */
  portforward: StreamEnd;
  /** The WebSocket protocol that it agrees on, whatever was asked for; undefined for the one asked for. */
  protocol: string | undefined;
  /** The number of streams that were opened. */
  opened: number;
  /** The number of streams that were closed. */
  closed: number;
}

/** Returns the API's path of a pod. */
export function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Returns the answer with which the API server refuses a request: a Status with that code and message. */
export function refuse(code: number, message: string, headers: Record<string, string> = {}): Response {
  const reason = reasons[code] ?? String(code);
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, message };
  return Response.json(body, { status: code, headers });
}

/** The reasons of a Status, by HTTP status: apimachinery pkg/apis/meta/v1/types.go. */
const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
};

/**
 * Starts a stand-in API server on a port of 127.0.0.1. `access` replaces fields of its client's, such as the identity.
 */
export function startStandInApi(access: Partial<Access> = {}): StandInApi {
  const store = createStore();
  const server = Bun.serve<Upgraded>({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    error: () => new Response(null, { status: 500 }), // a test breaks its answer
    async fetch(request, server) {
      const url = new URL(request.url);
      const protocol = request.headers.get("sec-websocket-protocol");
      const path = `${decodeURIComponent(url.pathname)}${url.search}`;
      standIn.requests.push(protocol === null ? `${request.method} ${path}` : `STREAM ${path} ${protocol}`);
      standIn.headers.push(request.headers);
      const own = await standIn.answer?.(request, url);
      if (own !== undefined) return own;
      const [, pod = "", subresource] = ofPod.exec(url.pathname) ?? [];
      if (subresource === undefined) return answer(request, url, { store, denied: standIn.denied });
      if (!store.objects.has(pod)) return notFound(pod);
      if (subresource === "ephemeralcontainers") return await patch(store, pod, request);
      if (protocol === null) return refuse(400, "Upgrade request required");
      const data = { end: subresource === "exec" ? standIn.exec : standIn.portforward, url };
      const headers = { "sec-websocket-protocol": standIn.protocol ?? protocol };
      return server.upgrade(request, { data, headers }) ? undefined : refuse(400, "no upgrade");
    },
    websocket: {
      open(socket) {
        standIn.opened += 1;
        socket.data.end.open?.(farOf(socket), socket.data.url);
      },
      message: (socket, bytes) => socket.data.end.message?.(farOf(socket), Buffer.from(bytes), socket.data.url),
      close() {
        standIn.closed += 1;
      },
    },
  });
  const url = server.url.href.replace(/\/$/, "");
  const identity = async () => ({ headers: { authorization: "Bearer secret" } });
  const { objects, put, remove, cut } = store;
  const standIn: StandInApi = {
    ...{ objects, put, remove, cut },
    get watchers() {
      return store.watchers;
    },
    api: createApiClient({ server: url, namespace: "shop", identity, ...access }),
    url,
    requests: [],
    headers: [],
    denied: new Set(),
    answer: undefined,
    exec: {},
    portforward: {},
    protocol: undefined,
    opened: 0,
    closed: 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return standIn;
}

interface Upgraded {
  readonly end: StreamEnd;
  readonly url: URL;
}

/** Matches the path of a pod's subresource; the groups are the pod's path and the subresource. */
const ofPod = /^(\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+)\/(exec|portforward|ephemeralcontainers)$/;

async function answer(
  request: Request,
  url: URL,
  { store, denied }: { readonly store: Store; readonly denied: ReadonlySet<string> },
): Promise<Response> {
  const { method } = request;
  const { pathname: path, searchParams } = url;
  if (path.endsWith("/selfsubjectaccessreviews")) return review(await request.json(), denied);
  if (method === "PUT" || method === "POST") return await write(store, path, request);
  if (method === "PATCH") return await patch(store, path, request);
  if (method !== "GET") return refuse(405, method);
  if (searchParams.has("watch")) return store.watch(path, url) ?? refuse(410, "too old");
  if (/\/(pods|namespaces|events|secrets|mutatingwebhookconfigurations)$/.test(path)) return store.list(path, url);
  const object = store.objects.get(path);
  return object === undefined ? notFound(path) : Response.json(object);
}

function notFound(path: string): Response {
  const [kind = "", name = ""] = path.split("/").slice(-2);
  return refuse(404, `${kind} ${JSON.stringify(name)} not found`);
}

async function write(store: Store, path: string, request: Request): Promise<Response> {
  const body: Loose = await request.json();
  const isNew = request.method === "POST";
  const target = isNew ? `${path}/${body.metadata.name}` : path;
  if (isNew && store.objects.has(target)) return refuse(409, "it is there");
  const known = store.objects.get(target)?.metadata.resourceVersion;
  if (!isNew && known !== body.metadata.resourceVersion) return refuse(409, "it was changed");
  return Response.json(store.put(target, body));
}

async function patch(store: Store, path: string, request: Request): Promise<Response> {
  const changed = structuredClone(store.objects.get(path));
  const { resourceVersion } = changed.metadata;
  const errors = applyPatch(changed, (await request.json()) as Operation[]);
  if (errors.some((error) => error !== null)) return refuse(422, "the request is invalid");
  if (changed.metadata.resourceVersion !== resourceVersion) {
    return refuse(409, "the object has been modified");
  }
  return Response.json(store.put(path, changed));
}

function review({ spec: { resourceAttributes: asked } }: Loose, denied: ReadonlySet<string>): Response {
  const resource = [asked.resource, asked.subresource].filter(Boolean).join("/");
  const allowed = !denied.has(`${asked.verb} ${resource}`);
  return Response.json({ metadata: {}, status: { allowed } }, { status: 201 });
}

function farOf(socket: Bun.ServerWebSocket<Upgraded>): Far {
  return {
    send: (bytes) => void socket.sendBinary(bytes),
    close: () => socket.close(),
    cut: () => socket.terminate(),
  };
}

/** Returns a message of a stream with channels: the channel's number, then the content. */
export function onChannel(channel: number, content: string | Uint8Array = ""): Uint8Array {
  return Buffer.concat([Buffer.of(channel), Buffer.from(content)]);
}
