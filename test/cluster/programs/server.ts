// bun server.ts [ADDRESS [PORT [GRPC]]] is the app of a pod. It answers each request with the pod's name, after the time
// that its query says in ms. On the port GRPC each call gets a stream for that time, with the pod's name every 100 ms. At
// SIGTERM it ends at once, whatever is under way, as most apps do that do not listen for it.
import { createServer, type ServerHttp2Stream } from "node:http2";

process.on("SIGTERM", () => process.exit(0));

const [hostname = "127.0.0.1", port = 8081, grpc] = process.argv.slice(2);
const name = process.env.HOSTNAME ?? "";
const EVERY_MS = 100;

Bun.serve({
  port,
  hostname,
  idleTimeout: 0, // a long answer is no idle connection
  async fetch({ url }) {
    await Bun.sleep(msOf(url));
    return new Response(name);
  },
});

function msOf(url: string): number {
  return Number(new URL(url, "http://app").searchParams.get("ms") ?? 0);
}

if (grpc !== undefined) {
  const message = Buffer.concat([Buffer.of(0, 0, 0, 0, name.length), Buffer.from(name)]);
  createServer()
    .on("stream", async (stream: ServerHttp2Stream, { ":path": path = "" }) => {
      stream.on("error", () => undefined).on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.resume();
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      for (let left = msOf(path); left > 0; left -= EVERY_MS) {
        stream.write(message);
        await Bun.sleep(Math.min(left, EVERY_MS));
      }
      stream.end(message);
    })
    .listen(Number(grpc), hostname);
}
