import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../harness/free-port.ts";

/** An HTTP server in the place of a sidecar. */
export interface FakeSidecar extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `METHOD /path` of each request so far but those for /ready. */
  readonly requests: readonly string[];
  /** Returns the number of requests for /ready so far. */
  readonly probes: () => number;
  /** Whether /ready is answered with 200 (else 503) from now on. */
  isReady: boolean;
}

export interface FakeSidecarOptions {
  /** The address on which it listens; by default 127.0.0.1. */
  readonly host?: string;
  /** Whether it is ready at first; by default it is. */
  readonly isReady?: boolean;
  /** Answers each request but those for /ready; without it the answer is 200, and the server ends. */
  readonly onQuit?: (request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * Starts an HTTP server with Envoy's admin paths /ready and /quitquitquit, for what a real Envoy cannot be made to do.
 */
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
  const port = await listen(server, options.host);
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
