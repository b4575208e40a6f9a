import { expect, test } from "bun:test";
import { endWithPeak } from "../../binary/sidecars/peak.ts";
import { startEbb } from "../../harness/ebb.ts";
import { pour, startRawServer } from "../../stand-in/raw-server.ts";

const MIB = 1024 * 1024;
const chunk = "x".repeat(16 * 1024);

// In pilot-agent's name an answer is written once it is whole: all of it is held until then.
test.each([
  ["whose length is a lie", "Content-Length: 9007199254740991\r\n\r\n", chunk],
  ["in chunks", "Transfer-Encoding: chunked\r\n\r\n", `${chunk.length.toString(16)}\r\n${chunk}\r\n`],
  ["until the connection closes", "Connection: close\r\n\r\n", chunk],
])(
  "an answer without end, %s, ends `pilot-agent request` at 256 MiB",
  async (_, head, text) => {
    await using server = await startRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}`);
      pour(socket, text);
    });
    await using ebb = startEbb(["pilot-agent", "request", `--debug-port=${server.port}`, "GET", "/config_dump"]);
    const { ended, peak } = await endWithPeak(ebb, 20);
    expect(ended).toMatchObject({ code: 69, stdout: "" });
    expect(ended.stderr).toContain("/config_dump: an answer longer than 256 MiB");
    expect(peak).toBeLessThan(512 * MIB);
  },
  180_000, // a busy machine reads 256 MiB slowly
);
