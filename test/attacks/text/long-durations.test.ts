import { expect, test } from "bun:test";
import { ebb } from "../../harness/ebb.ts";
import { startRawServer } from "../../stand-in/raw-server.ts";

/** 25 days: more milliseconds than a timer takes. */
const LONG = "600h";

/** A server that takes longer for its answer than a timer that fires at once. */
function startSlowServer() {
  return startRawServer((socket) => {
    setTimeout(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"), 300);
  });
}

test("a request waits for its answer", async () => {
  await using server = await startSlowServer();
  const { code, stdout } = await ebb(["request", "--timeout", LONG, `http://127.0.0.1:${server.port}/`]);
  expect([code, stdout]).toEqual([0, "ok\n"]);
});

test("a quit is answered", async () => {
  await using server = await startSlowServer();
  const url = `http://127.0.0.1:${server.port}/quit`;
  const ended = await ebb(["run", "--sidecar", "none", "--quit", url, "--quit-timeout", LONG, "--", "true"], {});
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain('"status":200');
});

test.each(["300000000h", "99999999999999999999s"])("%s is no duration", async (text) => {
  const { code, stderr } = await ebb(["sleep", text]);
  expect(code).toBe(64);
  expect(stderr).toContain(text);
});
