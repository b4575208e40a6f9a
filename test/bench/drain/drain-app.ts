import { takes } from "../../harness/time.ts";

/** The app behind the Envoy. */
export interface App extends AsyncDisposable {
  readonly port: number;
  /** Returns the number of requests that are not answered yet. */
  busy(): number;
}

/** Starts an app that answers each request after the milliseconds that its query says, and echoes over WebSockets. */
export function startApp(): App {
  let busy = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request, self) {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/socket" && self.upgrade(request, { data: undefined })) return undefined;
      busy += 1;
      await takes(Number(search.slice(1)));
      busy -= 1;
      return new Response("done\n");
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  });
  return {
    port: server.port as number,
    busy: () => busy,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
