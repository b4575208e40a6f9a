import type { Access, Identity } from "./access.ts";

/** What a WebSocket's first request says, but for its version: there is none of 0, so that no server opens a stream. */
const headers = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "0",
  "sec-websocket-key": "bm90IGEgc3RyZWFtIGF0IGFsbA==",
};

interface Asked {
  readonly path: string;
  readonly protocol: string;
  readonly identity: Identity;
  readonly signal: AbortSignal;
}

/**
 * Why a server opens no stream: the status of its refusal, or the error of the connection. Bun's WebSocket says neither (1.4.3:
 * "Expected 101 status code", "Failed to connect"). Undefined where it refuses nothing but this version.
 */
export async function askWhy(
  { server, serverName, isInsecure, proxy }: Access,
  { path, protocol, identity, signal }: Asked,
): Promise<number | Error | undefined> {
  const { ca, cert, key, headers: own } = identity;
  try {
    const { status, body } = await fetch(server + path, {
      headers: { "user-agent": "ebb", ...own, ...headers, "sec-websocket-protocol": protocol },
      redirect: "manual",
      signal,
      tls: { ca, cert, key, ...(serverName && { serverName }), rejectUnauthorized: isInsecure !== true },
      ...(proxy && { proxy }),
    });
    await body?.cancel();
    return status < 401 ? undefined : status;
  } catch (error) {
    return error as Error;
  }
}
