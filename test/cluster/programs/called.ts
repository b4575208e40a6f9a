// bun called.ts [HTTP HTTP2 TCP] is what an app calls: HTTP/1.1 on port 8081, HTTP/2 without TLS on 8082, TCP on 8083. What
// comes by TCP, or in a stream of HTTP/2 with a body, is sent back as it comes.
import { createServer as createHttp2, type ServerHttp2Stream } from "node:http2";
import { createServer } from "node:net";

process.on("SIGTERM", () => process.exit(0));

const [http = 8081, http2 = 8082, tcp = 8083] = process.argv.slice(2).map(Number);

Bun.serve({ port: http, fetch: () => new Response("called") });
createHttp2()
  .on("stream", (stream: ServerHttp2Stream, { ":method": method }) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    if (method === "POST") stream.pipe(stream);
    else stream.end("called");
  })
  .listen(http2);
createServer((socket) => socket.on("error", () => undefined).pipe(socket)).listen(tcp);
