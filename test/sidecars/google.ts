// bun google.ts stands in for Google beside its proxies: on port 8099 for the APIs that tell the Cloud SQL and the AlloyDB
// Auth Proxy where an instance is, and which certificates it has; on the instances' ports for databases, which send back
// what they get.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { temporaryFolder } from "../harness/ebb.ts";
import { runTool } from "./tool.ts";

using folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
const read = (name: string): string => readFileSync(at(name), "utf8");

const make = [
  "openssl",
  "req",
  "-x509",
  "-days",
  "2",
  "-nodes",
  "-newkey",
  "ec",
  "-pkeyopt",
  "ec_paramgen_curve:P-256",
];
const signed = ["-CA", at("ca.crt"), "-CAkey", at("ca.key")];
await runTool(...make, "-subj", "/CN=ca", "-keyout", at("ca.key"), "-out", at("ca.crt"));
// Cloud SQL's certificates name the instance (cloudsqlconn internal/cloudsql/tls_verify.go), AlloyDB's its address
const names = ["-subj", "/CN=project:instance", "-addext", "subjectAltName=IP:127.0.0.1"];
await runTool(...make, ...names, ...signed, "-keyout", at("server.key"), "-out", at("server.crt"));

/** Signs a proxy's public key. */
async function clientCertificate(publicKey: string): Promise<string> {
  writeFileSync(at("client.pub"), publicKey);
  const key = ["-force_pubkey", at("client.pub"), "-subj", "/CN=client"];
  return await runTool("openssl", "x509", "-new", "-days", "1", ...key, ...signed);
}

Bun.serve({
  port: 8099,
  hostname: "127.0.0.1",
  routes: {
    "/sql/v1beta4/projects/:project/instances/:instance/connectSettings": () =>
      Response.json({
        region: "region",
        backendType: "SECOND_GEN",
        databaseVersion: "POSTGRES_16",
        ipAddresses: [{ type: "PRIMARY", ipAddress: "127.0.0.1" }],
        serverCaCert: { cert: read("ca.crt") },
      }),
    "/v1alpha/projects/p/locations/r/clusters/c/instances/i/connectionInfo": () =>
      Response.json({ ipAddress: "127.0.0.1", instanceUid: "i" }),
  },
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith(":generateEphemeralCert"))
      return Response.json({ ephemeralCert: { cert: read("server.crt") } }); // the database asks for none
    if (!pathname.endsWith(":generateClientCertificate")) return new Response(pathname, { status: 404 });
    const { publicKey } = (await request.json()) as { publicKey: string };
    return Response.json({ pemCertificateChain: [await clientCertificate(publicKey)], caCert: read("ca.crt") });
  },
});

/** Starts a database on the port of an instance. */
async function startDatabase(port: number, greet: (socket: TLSSocket) => void): Promise<void> {
  const server = createServer({ key: read("server.key"), cert: read("server.crt") }, (socket) => {
    socket.on("error", () => undefined);
    greet(socket);
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
}

/** A MetadataExchangeResponse of the code OK, after its length (alloydbconn dialer.go, metadataExchange). */
const ok = Buffer.from([0, 0, 0, 2, 8, 1]);

await startDatabase(3307, (socket) => socket.pipe(socket));
await startDatabase(5433, (socket) =>
  socket.once("data", () => {
    socket.write(ok);
    socket.pipe(socket);
  }),
);
console.log("listening");
await new Promise(() => undefined);
