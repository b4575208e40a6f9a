import { createSecureServer, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { Server } from "node:net";
import { listen } from "../harness/free-port.ts";

/** A gRPC server whose health service says what `statuses` has; gRPC's own codes are negative numbers. */
interface GrpcServer extends AsyncDisposable {
  readonly port: number;
  /** By service: a ServingStatus of grpc.health.v1; or -n: the call fails with gRPC status n. It fails with 5 for others. */
  readonly statuses: Map<string, number>;
  /** The headers of the calls. */
  readonly calls: Readonly<Record<string, unknown>>[];
  /** How many connections were made, and how many are open. */
  readonly connections: { made: number; open: number };
}

/** Starts one on loopback, with TLS if it is given a certificate and its key. */
export async function startGrpcServer(tls?: { readonly cert: Buffer; readonly key: Buffer }): Promise<GrpcServer> {
  const server: Http2Server = tls === undefined ? createServer() : (createSecureServer(tls) as never);
  const statuses = new Map([["", 2]]);
  const calls: Record<string, unknown>[] = [];
  const connections = { made: 0, open: 0 };
  server.on("session", (session) => {
    connections.made += 1;
    connections.open += 1;
    session.on("error", () => undefined);
    session.on("close", () => {
      connections.open -= 1;
    });
  });
  server.on("stream", (stream, headers) => {
    calls.push(headers);
    const pieces: Buffer[] = [];
    stream.on("error", () => undefined);
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("end", () => {
      // a name of less than 128 bytes follows the frame's prefix, the tag and the length
      const name = Buffer.concat(pieces).subarray(7).toString();
      reply(
        stream as ServerHttp2Stream,
        headers[":path"] === "/grpc.health.v1.Health/Check" ? (statuses.get(name) ?? -5) : -12,
      );
    });
  });
  const port = await listen(server as unknown as Server);
  return {
    ...{ port, statuses, calls, connections },
    [Symbol.asyncDispose]: () => new Promise((closed) => void server.close(() => closed())),
  };
}

function reply(stream: ServerHttp2Stream, status: number): void {
  if (stream.destroyed) return; // ebb has been answered by another call
  const head = { ":status": 200, "content-type": "application/grpc" };
  if (status < 0) return void stream.respond({ ...head, "grpc-status": `${-status}` }, { endStream: true });
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, status]));
}
