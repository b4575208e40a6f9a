// An Envoy's admin interface as a sidecar of a pod: it runs in a container of its own, in Node.js.
import { createServer } from "node:http";
import { envoyAnswer, live } from "./envoy-answers.ts";

/** The number of probes that still find it not ready. */
let startingUp = Number(process.argv[2] ?? 0);

createServer(({ method, url = "" }, response) => {
  const [path = ""] = url.split("?");
  const state = path !== "/ready" || startingUp-- <= 0 ? "LIVE" : "PRE_INITIALIZING";
  const { status, body } = envoyAnswer(path, { ...live, state, node: {} }) ?? { status: 404, body: "" };
  if (path === "/ready" || path === "/server_info") return void response.writeHead(status).end(body);
  console.log(`${method} ${url}`);
  response.writeHead(status, { connection: "close" }).end(body, () => path === "/quitquitquit" && process.exit(0));
}).listen(9901, "127.0.0.1", () => console.log("listening"));
