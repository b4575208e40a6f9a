import { writeFileSync } from "node:fs";
import { issueAuthority, issueServing } from "../../src/cluster/certificates/issue.ts";

// bun test/image/referring.ts CA FIFO REALM: a registry on 8.8.8.8:5000 that sends its clients to REALM for tokens. It
// listens on all addresses, with one certificate, and writes a line to stderr for each request.

const [caPath = "", fifo = "", realm = ""] = process.argv.slice(2);
const life = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 86_400_000 };
const authority = issueAuthority(life);
const { cert, key } = issueServing(
  ["8.8.8.8", "1.1.1.1", "inside.example.com", "outside.example.com"],
  life,
  authority,
);
writeFileSync(caPath, authority.cert);
Bun.serve({
  port: 5000,
  hostname: "0.0.0.0",
  tls: { cert, key },
  fetch(request) {
    const { pathname } = new URL(request.url);
    console.error(`registry: ${request.headers.get("host")} ${pathname}`);
    if (pathname === "/token") return Response.json({ token: "t" });
    if (request.headers.get("authorization") === "Bearer t") return new Response("no image", { status: 404 });
    return new Response("", { status: 401, headers: { "www-authenticate": `Bearer realm="${realm}"` } });
  },
});
writeFileSync(fifo, "listening\n");
