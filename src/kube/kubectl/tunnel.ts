import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { excerpt } from "../../core/base/http-framing.ts";
import type { FarSidecar, Via } from "../../core/kubectl/forwarded.ts";
import { isApiFailure } from "../api/api-error.ts";
import type { Stream } from "../api/stream.ts";
import { forwardChannels, openForward, readForward, sendForward } from "../reaper/methods/forward.ts";
import type { PodSession } from "./session.ts";

/** Ports of a pod's loopback, each served on a unix socket here. Disposing of it (`using`) ends it. */
export interface Tunnel extends Disposable {
  readonly via: Via;
}

/**
 * Serves the ports of sidecars on a pod's loopback, in a folder that only this user may enter. A stream belongs to the
 * pod that had the name when it was opened: `check` is awaited after that, and before anything is sent.
 */
export async function openTunnel(
  far: readonly FarSidecar[],
  session: PodSession,
  check: () => Promise<unknown> = async () => undefined,
): Promise<Tunnel> {
  const ports = [...new Set(far.flatMap((one) => one.ports))];
  const folder = mkdtempSync(join(tmpdir(), "ebb-"));
  const pathFor = (port: number) => join(folder, `${port}`);
  const sockets = new Set<Socket>();
  const servers = await Promise.all(
    ports.map((port) =>
      listen(pathFor(port), (socket) => {
        sockets.add(socket.once("close", () => sockets.delete(socket)));
        void serve(socket, port, { ...session, check });
      }),
    ),
  );
  return {
    via: (port) => ({ kind: "unix", path: pathFor(port) }),
    [Symbol.dispose]() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listen(path: string, serve: (socket: Socket) => void): Promise<Server> {
  const server = createServer(serve);
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(path, () => resolve(server));
  });
}

interface Checked {
  readonly check: () => Promise<unknown>;
}

/** Passes a connection on to a port of the pod, which may refuse it: then it is closed. */
async function serve(socket: Socket, port: number, session: PodSession & Checked): Promise<void> {
  const given: Uint8Array[] = [];
  let send = (bytes: Uint8Array): unknown => given.push(bytes);
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes: Buffer) => send(bytes));
  try {
    using stream = await open(port, session);
    await session.check();
    socket.once("close", () => stream[Symbol.dispose]());
    send = (bytes) => sendForward(stream, bytes);
    for (const bytes of given) send(bytes);
    await receive(stream, (bytes) => socket.write(bytes));
  } catch (error) {
    if (!(session.signal.aborted || isApiFailure(error))) throw error;
  } finally {
    socket.end();
  }
}

function open(port: number, { api, ref, signal }: PodSession): Promise<Stream> {
  return openForward(port, { pod: ref, api, signal });
}

/** Reads a stream to its end. Resolves with the kubelet's error, if there was one. */
async function receive(stream: Stream, take: (bytes: Uint8Array) => unknown): Promise<string | undefined> {
  for await (const [channel, bytes] of readForward(stream)) {
    if (channel === forwardChannels.error) return excerpt(new TextDecoder().decode(bytes), 300);
    take(bytes);
  }
  return undefined;
}

const ANSWER_MS = 5000;
const HELLO = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** Asks one port for anything at all. Resolves with why nothing came; undefined: it answers. */
export async function whyUnreachable(port: number, { signal, ...session }: PodSession): Promise<string | undefined> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  try {
    using stream = await open(port, { ...session, signal: AbortSignal.any([signal, limit]) });
    sendForward(stream, Buffer.from(HELLO));
    let hasAnswered = false;
    const error = await receive(stream, () => {
      hasAnswered = true;
      stream[Symbol.dispose]();
    });
    return hasAnswered ? undefined : (error ?? `port ${port}: the connection ended without an answer`);
  } catch (error) {
    if (limit.aborted && !signal.aborted) return `port ${port}: no answer within ${ANSWER_MS / 1000} s`;
    if (signal.aborted || !isApiFailure(error)) throw error;
    return error.message;
  }
}
