import { createServer } from "node:net";
import { join } from "node:path";
import { until } from "../harness.ts";
import type { Container, Pod } from "./pod.ts";

/** The container of an app that answers. */
export async function startApp(pod: Pod, port: number): Promise<Container> {
  const app = await pod.start([process.execPath, join(import.meta.dirname, "app.ts"), `${port}`]);
  await until("the app listens", () => app.log().includes("listening"));
  return app;
}

/** Servers outside of all pods: HTTP, whose `/half` is never answered to its end, and an echo. */
export async function startOutside(http: number, tcp: number): Promise<AsyncDisposable> {
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

/** A process of the pod's that holds a request and a connection to the outside open. */
export async function callOutside(pod: Pod, http: number, tcp: number): Promise<Container> {
  const caller = await pod.start([
    process.execPath,
    join(import.meta.dirname, "caller.ts"),
    pod.outside,
    `${http}`,
    `${tcp}`,
  ]);
  await until("connections to the outside are open", () => caller.log().includes("both are open"));
  return caller;
}
