import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { drainLineOf, lineOf, startEbb, until } from "../../harness/ebb.ts";
import { listen } from "../../harness/free-port.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { busy, idle } from "../../stand-in/envoy-answers.ts";

setDefaultTimeout(20_000);

const pem = join(import.meta.dirname, "../../fixtures/localhost.pem");

/** Starts a server that takes TLS, and passes what is inside on to a port. */
async function startTls(port: number): Promise<AsyncDisposable & { readonly url: string }> {
  const certificate = { key: readFileSync(pem), cert: readFileSync(pem) };
  const server = createServer(certificate, (socket) => {
    const inside = connect(port, "127.0.0.1");
    for (const end of [socket, inside]) end.on("error", () => void [socket.destroy(), inside.destroy()]);
    socket.pipe(inside).pipe(socket);
  });
  const url = `https://127.0.0.1:${await listen(server)}`;
  return { url, [Symbol.asyncDispose]: () => new Promise((closed) => void server.close(() => closed())) };
}

test("a drain counts the work in flight at an admin interface behind TLS", async () => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  await using tls = await startTls(Number(new URL(envoy.url).port));
  const flags = ["--sidecar", "envoy", "--admin", tls.url, "--drain", "15s", "--min-drain", "100ms"];
  await using started = startEbb(["drain", ...flags], { env: { NODE_EXTRA_CA_CERTS: pem } });
  await until("it counts", () => started.stderr().includes('"connections":1'));
  envoy.stats = idle;
  const ended = await started.ended;
  expect(lineOf(ended, "counting the work in flight")).toMatchObject({ countedBy: "listeners" });
  expect(drainLineOf(ended)).toMatchObject({ sidecar: "envoy", outcome: "drained" });
  expect(ended.code).toBe(0);
});
