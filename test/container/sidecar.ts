// A stand-in for Envoy's admin interface as the sidecar of a pod, in a container of its own, where Node.js runs it.
import { createServer } from "node:http";

/** So many probes find it not ready yet. */
let startingUp = Number(process.argv[2] ?? 0);

createServer((request, response) => {
  if (request.url === "/ready") {
    const isReady = startingUp-- <= 0;
    response.writeHead(isReady ? 200 : 503).end(isReady ? "LIVE\n" : "PRE_INITIALIZING\n");
    return;
  }
  if (request.url === "/server_info") {
    response.end(
      JSON.stringify({ version: "0/1.40.0/Clean/RELEASE", state: "LIVE", command_line_options: {}, node: {} }),
    );
    return;
  }
  console.log(`${request.method} ${request.url}`);
  response.writeHead(200, { connection: "close" }).end("OK\n", () => process.exit(0));
}).listen(9901, "127.0.0.1", () => console.log("listening"));
