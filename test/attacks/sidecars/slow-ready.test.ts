import { expect, test } from "bun:test";
import { childPath } from "../../harness/compiled.ts";
import { lineOf, startEbb } from "../../harness/ebb.ts";
import { startRawServer } from "../../stand-in/raw-server.ts";

const SLOW_MS = 5500;
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

test.concurrent.each([
  ["http", "/ready", ok],
  ["/server_info", "/server_info", 'HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"state":"LIVE"}'],
])(
  "a readiness answer that takes long counts: %s",
  async (_, path, answer) => {
    let answered = 0;
    await using server = await startRawServer((socket) => {
      setTimeout(() => {
        if (socket.writable) answered += 1;
        socket.end(answer);
      }, SLOW_MS);
    });
    const flags = ["--sidecar", "none", "--ready", `http://127.0.0.1:${server.port}${path}`, "--wait-timeout", "15s"];
    await using started = startEbb(["run", ...flags, "--", childPath(), "exit", "7"]);
    const ended = await started.ended;
    expect(ended.code).toBe(7);
    // the first answer, not a later one
    expect(Number(lineOf(ended, "done").waitedMs)).toBeLessThan(2 * SLOW_MS);
    expect(answered).toBeGreaterThan(0);
    expect(server.received()).toBeGreaterThan(1);
  },
  30_000,
);
