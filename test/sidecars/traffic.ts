import { createServer } from "node:net";
import { join } from "node:path";
import { until } from "../harness/ebb.ts";
import type { Container, Pod } from "./pod.ts";

/** Starts the container of an app (app.ts). Resolves once it listens. */
export async function startApp(pod: Pod, port: number): Promise<Container> {
  const app = await pod.start([process.execPath, join(import.meta.dirname, "app.ts"), `${port}`]);
  await until("the app listens", () => app.log().includes("listening"));
  return app;
}

/** Starts a stand-in for Google's APIs and databases in a pod (google.ts). Resolves once it listens. */
export async function startGoogle(pod: Pod): Promise<void> {
  const google = await pod.start([process.execPath, join(import.meta.dirname, "google.ts")]);
  await until("Google listens", () => google.log().includes("listening"));
}

/** The ports of servers outside of all pods. */
export interface Outside {
  readonly http: number;
  readonly tcp: number;
}

/** Starts, outside of all pods, an HTTP server whose answers never end, and an echo server. */
export async function startOutside({ http, tcp }: Outside): Promise<AsyncDisposable> {
  const never = (): ReadableStream => new ReadableStream({ start: (stream) => stream.enqueue("half") });
  const web = Bun.serve({ port: http, hostname: "0.0.0.0", idleTimeout: 0, fetch: () => new Response(never()) });
  const echo = createServer((socket) => socket.on("error", () => undefined).pipe(socket));
  await new Promise<void>((listening) => echo.listen(tcp, "0.0.0.0", listening));
  return {
    async [Symbol.asyncDispose]() {
      echo.close();
      await web.stop(true);
    },
  };
}

/** Starts a container in a pod that holds a request and a connection to these servers open. Resolves once both are. */
export async function callOutside(pod: Pod, host: string, { http, tcp }: Outside): Promise<Container> {
  const program = join(import.meta.dirname, "caller.ts");
  const caller = await pod.start([process.execPath, program, host, `${http}`, `${tcp}`]);
  await until("the outside has answered", () => caller.log().includes("both are open"));
  return caller;
}
