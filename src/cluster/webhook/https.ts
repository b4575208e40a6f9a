import { createServer as createHttp, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTls, type SecureContextOptions, type TLSSocket } from "node:tls";
import type { KeyPair } from "../certificates/held.ts";
import { bindFailure, type ListenAddress } from "../controller/core/listen.ts";
import { type ConnectionHandlers, limitConnections } from "./connections.ts";

/** A running HTTPS server. */
export interface HttpsServer {
  /** The port that it listens on, also if any was asked for. */
  readonly port: number;
  /** How many connections are open. */
  readonly connections: number;
  /** Serves another certificate from the next connection on. */
  use(certificate: KeyPair): void;
  /** Stops listening, and closes the connections that wait for a next request. Resolves when the last one is closed. */
  close(): Promise<void>;
  /** Cuts all connections that are left. */
  destroy(): void;
}

/** How to serve. */
interface HttpsSettings {
  readonly listen: ListenAddress;
  readonly certificate: KeyPair;
  /** Milliseconds for a TLS handshake, for a request to arrive, and for its answer to be taken, each. */
  readonly requestMs: number;
}

/** The status for a request that is not HTTP (400), did not arrive in time (408), or has too big a head (431). */
export type BrokenStatus = 400 | 408 | 431;

/** What the server calls. */
export interface HttpsHandlers extends Pick<ConnectionHandlers, "onCut"> {
  readonly onRequest: RequestListener;
  /**
   * Called at a request that cannot be read or is late; `from` is the client's address. `response` is undefined if its
   * head did not arrive: the server then answers by itself.
   */
  readonly onBroken: (status: BrokenStatus, from: string | undefined, response: ServerResponse | undefined) => void;
}

const MOST_HEADER_BYTES = 16 * 1024;

/**
 * Starts to serve HTTP/1.1 over TLS 1.2 or newer, with limits for heads (16 KiB) and connections (1000). Rejects with
 * Failure(71) if the address cannot be bound.
 */
export async function openHttps(
  settings: HttpsSettings,
  { onRequest, onBroken, onCut }: HttpsHandlers,
): Promise<HttpsServer> {
  // No HTTP/2: its one connection would bind the API server to one replica, and controller-runtime's projects leave it
  // off for its rapid resets (CVE-2023-44487). node:tls accepts and node:http reads: of Bun's servers only node:tls
  // changes its certificate on a listening socket, so that no connection is lost.
  const onSlow = (socket: TLSSocket, response: ServerResponse | undefined): void => {
    const isAnswered = response?.headersSent === true; // only a body that nobody wants is late
    if (!isAnswered) onBroken(408, socket.remoteAddress, response);
    if (response === undefined) sayBroken(socket, 408);
    socket.destroySoon();
  };
  const connections = limitConnections(settings.requestMs, { onSlow, onCut });
  const http = createHttp({ maxHeaderSize: MOST_HEADER_BYTES }, (request, response) => {
    request.once("end", connections.receiving(request.socket as TLSSocket, response));
    request.on("error", () => undefined); // it went away: there is nobody to answer
    onRequest(request, response);
  });
  http.keepAliveTimeout = 0; // connections.ts has its own
  http.on("clientError", ({ code }: NodeJS.ErrnoException, stream) => {
    const socket = stream as TLSSocket;
    // so the parser reports a client that has gone, or that was answered already
    if (!code?.startsWith("HPE_") || code === "HPE_INVALID_EOF_STATE" || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
    onBroken(status, socket.remoteAddress, undefined);
    sayBroken(socket, status);
    socket.destroySoon();
  });
  // Bun's own limit of a handshake reports it, but leaves the connection open
  const options = { minVersion: "TLSv1.2", handshakeTimeout: 0, noDelay: true } as const;
  const tls = createTls({ ...options, ...contextOf(settings.certificate) }, (socket) => {
    connections.secured(socket);
    http.emit("connection", socket);
  });
  tls.on("connection", (socket: TLSSocket) => {
    socket.on("error", () => socket.destroy());
    connections.add(socket);
  });
  tls.on("tlsClientError", () => undefined); // a scanner, or a client that does not trust the certificate: it says so itself
  await listen(tls, settings.listen);
  return {
    port: (tls.address() as AddressInfo).port,
    get connections() {
      return connections.size;
    },
    use: (certificate) => tls.setSecureContext(contextOf(certificate)),
    async close() {
      const closed = new Promise((resolve) => tls.close(resolve));
      connections.shortenIdle();
      http.closeIdleConnections();
      await closed;
    },
    destroy: () => http.closeAllConnections(),
  };
}

function contextOf({ cert, key }: KeyPair): SecureContextOptions {
  return { cert, key };
}

const reasons: Readonly<Record<BrokenStatus, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

function sayBroken(socket: TLSSocket, status: BrokenStatus): void {
  socket.write(`HTTP/1.1 ${status} ${reasons[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** Binds the address and listens. Rejects with Failure(71) if the address cannot be bound. */
async function listen(server: ReturnType<typeof createTls>, { host, port }: ListenAddress): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(bindFailure("listen", { host, port }, error)));
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
  });
}
