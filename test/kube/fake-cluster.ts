import { applyPatch, type Operation } from "rfc6902";
import { type ApiClient, createApiClient } from "../../src/kube/api/client.ts";
import type { Access } from "../../src/kube/api/identity.ts";

/** What a stream's other end does: the API server, with a kubelet behind it. */
export interface StreamEnd {
  open?(stream: Far): void;
  message?(stream: Far, bytes: Uint8Array): void;
}

export interface Far {
  send(bytes: Uint8Array): void;
  close(): void;
  /** As a connection ends that is cut. */
  cut(): void;
}

type Json = Record<string, unknown>;

/** An API server with pods, over HTTP and WebSockets; `await using` it. */
export interface FakeCluster extends AsyncDisposable {
  readonly api: ApiClient;
  readonly url: string;
  /** `METHOD path?query`, `STREAM path?query protocol` of each request so far. */
  readonly requests: string[];
  readonly headers: Headers[];
  /** By `namespace/name`. */
  readonly pods: Map<string, Json>;
  /** Answers a request in its own way. */
  answer: ((request: Request, url: URL) => Response | undefined | Promise<Response | undefined>) | undefined;
  exec: StreamEnd;
  portforward: StreamEnd;
  /** What is agreed on, whatever was asked for. */
  protocol: string | undefined;
  opened: number;
  closed: number;
}

const POD = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(?:\/(\w+))?$/;

export function refuse(code: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason: String(code), message };
  return Response.json(status, { status: code, headers });
}

/** @param access other than its address */
export function startFakeCluster(access: Partial<Access> = {}): FakeCluster {
  const server = Bun.serve<{ readonly end: StreamEnd }>({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request, server) {
      const url = new URL(request.url);
      const protocol = request.headers.get("sec-websocket-protocol");
      const path = `${decodeURIComponent(url.pathname)}${url.search}`;
      fake.requests.push(protocol === null ? `${request.method} ${path}` : `STREAM ${path} ${protocol}`);
      fake.headers.push(request.headers);
      const own = await fake.answer?.(request, url);
      if (own !== undefined) return own;
      const [, namespace, name, subresource] = POD.exec(url.pathname) ?? [];
      const pod = fake.pods.get(`${namespace}/${name}`);
      if (pod === undefined) return refuse(404, `pods "${name}" not found`);
      if (subresource === undefined) return Response.json(pod);
      if (subresource === "ephemeralcontainers") return await patched(request, pod, `${namespace}/${name}`);
      if (protocol === null) return refuse(400, "Upgrade request required");
      const end = subresource === "exec" ? fake.exec : fake.portforward;
      const headers = { "sec-websocket-protocol": fake.protocol ?? protocol };
      const isUpgraded = server.upgrade(request, { data: { end }, headers });
      return isUpgraded ? undefined : refuse(400, "no upgrade");
    },
    websocket: {
      open(socket) {
        fake.opened += 1;
        socket.data.end.open?.(farOf(socket));
      },
      message: (socket, bytes) => socket.data.end.message?.(farOf(socket), Buffer.from(bytes)),
      close() {
        fake.closed += 1;
      },
    },
  });
  const patched = async (request: Request, pod: Json, key: string): Promise<Response> => {
    const changed = structuredClone(pod) as Json & { metadata: Json };
    const { resourceVersion } = changed.metadata;
    const errors = applyPatch(changed, (await request.json()) as Operation[]);
    if (errors.some((error) => error !== null)) return refuse(422, "the request is invalid");
    if (changed.metadata.resourceVersion !== resourceVersion) return refuse(409, "the object has been modified");
    fake.pods.set(key, changed);
    return Response.json(changed);
  };
  const url = server.url.href.replace(/\/$/, "");
  const identity = async () => ({ headers: { authorization: "Bearer secret" } });
  const fake: FakeCluster = {
    api: createApiClient({ server: url, namespace: "shop", identity, ...access }),
    url,
    requests: [],
    headers: [],
    pods: new Map(),
    answer: undefined,
    exec: {},
    portforward: {},
    protocol: undefined,
    opened: 0,
    closed: 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return fake;
}

function farOf(socket: Bun.ServerWebSocket<unknown>): Far {
  return {
    send: (bytes) => void socket.sendBinary(bytes),
    close: () => socket.close(),
    cut: () => socket.terminate(),
  };
}

/** A message of a stream with channels. */
export function onChannel(channel: number, content: string | Uint8Array = ""): Uint8Array {
  return Buffer.concat([Buffer.of(channel), Buffer.from(content)]);
}
