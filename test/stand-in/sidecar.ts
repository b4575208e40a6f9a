import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakeSidecar extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `METHOD /path` of each request so far, but for GETs of /ready. */
  readonly requests: readonly string[];
  /** How often /ready was asked. */
  readonly probes: () => number;
  isReady: boolean;
}

export interface FakeSidecarOptions {
  readonly host?: string;
  readonly isReady?: boolean;
  /** Answers a quit in its own way; without it 200, and the server goes. */
  readonly onQuit?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** An HTTP server with Envoy's admin paths /ready and /quitquitquit, for what a real Envoy cannot be made to do. */
export async function fakeSidecar(options: FakeSidecarOptions = {}): Promise<FakeSidecar> {
  const requests: string[] = [];
  let probes = 0;
  const server = createServer((request, response) => {
    if (request.url === "/ready") {
      probes += 1;
      response.writeHead(sidecar.isReady ? 200 : 503).end(sidecar.isReady ? "LIVE\n" : "PRE_INITIALIZING\n");
      return;
    }
    requests.push(`${request.method} ${request.url}`);
    if (options.onQuit !== undefined) return options.onQuit(request, response);
    response.end("OK\n");
    server.close();
    server.closeIdleConnections();
  });
  await new Promise<void>((listening) => server.listen(0, options.host ?? "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const sidecar: FakeSidecar = {
    port,
    url: `http://${options.host === "::1" ? "[::1]" : "127.0.0.1"}:${port}`,
    requests,
    probes: () => probes,
    isReady: options.isReady ?? true,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return sidecar;
}
