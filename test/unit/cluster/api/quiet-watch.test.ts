import { expect, test } from "bun:test";
import { join } from "node:path";
import { takes } from "../../../harness/time.ts";

const client = join(import.meta.dirname, "../../../../src/cluster/api/client.ts");

/** Bun gives up what is idle for 5 minutes, looking every 4 s; here after one second. */
const QUIET_MS = 10_000;
const watching = `
  const { createApiClient } = await import(${JSON.stringify(client)});
  const api = createApiClient({ server: process.argv[1], namespace: "shop", identity: async () => ({ headers: {} }) });
  for await (const { type } of api.watch("/api/v1/namespaces", {}, new AbortController().signal)) console.log(type);
`;

test("a watch of what does not change for long goes on", async () => {
  const event = new TextEncoder().encode(
    `${JSON.stringify({ type: "ADDED", object: { metadata: { name: "shop" } } })}\n`,
  );
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(stream) {
            stream.enqueue(event);
            await takes(QUIET_MS);
            stream.enqueue(event);
            stream.close();
          },
        }),
      ),
  });
  const words = [process.execPath, "--eval", watching, server.url.origin];
  const child = Bun.spawn(words, { env: { BUN_CONFIG_HTTP_IDLE_TIMEOUT: "1" }, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ stdout, stderr }).toEqual({ stdout: "ADDED\nADDED\n", stderr: "" });
});
