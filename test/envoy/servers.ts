import { type Late, lateResource } from "./bootstrap.ts";

/** The server to which the proxy sends calls. */
export interface Upstream extends AsyncDisposable {
  readonly port: number;
  /** Returns the number of requests that have come. */
  readonly requests: () => number;
}

/** Starts an upstream on a port of 127.0.0.1, which answers everything with `hello`. */
export function startUpstream(): Upstream {
  let requests = 0;
  const fetch = (): Response => {
    requests += 1;
    return new Response("hello\n");
  };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  return {
    port: server.port as number,
    requests: () => requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

interface ControlPlane extends AsyncDisposable {
  readonly port: number;
  readonly what: Late;
  /** Returns the number of Envoy's requests so far; none is answered before `release`. */
  readonly waiting: () => number;
  /** Answers, so that Envoy turns LIVE. */
  release(): void;
}

/** Starts a control plane that tells Envoy what it waits for once it is released. */
export function startControlPlane(what: Late, upstreamPort: number): ControlPlane {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let waiting = 0;
  const fetch = async (request: Request): Promise<Response> => {
    const { type_url } = (await request.json()) as { readonly type_url: string };
    waiting += 1;
    await released;
    return Response.json({ version_info: "1", type_url, resources: [lateResource(what, upstreamPort)] });
  };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });
  return {
    port: server.port as number,
    what,
    waiting: () => waiting,
    release,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
