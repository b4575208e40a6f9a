import { bindFailure, type ListenAddress } from "./core/listen.ts";
import type { Exposition } from "./process-metrics.ts";

/** What the kubelet's probes are told. */
interface Probes {
  /** Returns why no requests should come here; undefined if they should. */
  readonly unready: () => string | undefined;
}

/** A server of probes and metrics. `close` cuts its connections. */
interface Health {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts a plain HTTP server for the kubelet and Prometheus: /healthz (200), /readyz (503 if `unready`) and /metrics. @throws Failure(71) if the address cannot be bound
 */
export function openHealth({ host, port }: ListenAddress, metrics: Exposition, { unready }: Probes): Health {
  const answer = (reason: string | undefined): Response =>
    new Response(reason === undefined ? "ok\n" : `${reason}\n`, { status: reason === undefined ? 200 : 503 });
  const pages: Readonly<Record<string, () => Response | Promise<Response>>> = {
    "/healthz": () => answer(undefined),
    "/readyz": () => answer(unready()),
    "/metrics": async () => new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } }),
  };
  const serve = ({ method, url }: Request): Response | Promise<Response> => {
    const page = pages[new URL(url).pathname];
    if (page === undefined) return new Response("not found: /healthz, /readyz, /metrics\n", { status: 404 });
    if (method !== "GET" && method !== "HEAD") return new Response("expected GET\n", { status: 405 });
    return page();
  };
  try {
    const address = { port, ...(host === undefined ? {} : { hostname: host }) };
    const server = Bun.serve({ ...address, maxRequestBodySize: 1024, fetch: serve });
    return { port: server.port ?? port, close: () => server.stop(true) };
  } catch (error) {
    throw bindFailure("health-listen", { host, port }, error);
  }
}
