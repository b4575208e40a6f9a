import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { ebb, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { settled } from "../../harness/time.ts";
import { ok, pour, startRawServer } from "../../stand-in/raw-server.ts";
import { canHaveNetwork } from "../sidecars/own-network.ts";

const certificate = join(import.meta.dirname, "../../fixtures/localhost.pem");

describe("the answer", () => {
  test("goes to stdout byte for byte, packed as it came", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await using server = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 256\r\n\r\n");
      socket.end(bytes);
    });
    using folder = temporaryFolder();
    const path = join(folder.path, "body");
    const through = ["sh", "-c", `"$0" "$@" >${path}`];
    expect((await ebb(["request", "--port", `${server.port}`, "/"], { through })).code).toBe(0);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test.each([
    [404, "Not Found", 1],
    [500, "", 1],
    [404, "Gone\r\nLocation: http://elsewhere/", 1],
    [201, "Created\r\nLocation: http://elsewhere/", 0],
    [200, "OK", 0],
  ])("with status %d %s keeps its body", async (status, text, code) => {
    const head = `HTTP/1.1 ${status} ${text}\r\nContent-Length: 3\r\n\r\n`;
    await using server = await startRawServer((socket) => socket.end(`${head}abc`));
    const ended = await ebb(["request", "--port", `${server.port}`, "/"]);
    const said = `HTTP ${status}${text === "" ? "" : ` ${text.split("\r")[0]}`}`;
    const stderr = code === 0 ? "" : `ebb: request: GET http://localhost:${server.port}/: ${said}\n`;
    expect(ended).toMatchObject({ code, stdout: "abc", stderr });
  });

  test("that redirects is not followed, which is said", async () => {
    const head = "HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 3\r\n\r\n";
    await using server = await startRawServer((socket) => socket.end(`${head}abc`));
    expect(await ebb(["request", "--port", `${server.port}`, "/"])).toMatchObject({
      code: 0,
      stdout: "abc",
      stderr: `ebb: request: GET http://localhost:${server.port}/: HTTP 302 Found: a redirect to "http://elsewhere/", which ebb does not follow\n`,
    });
  });

  test("is written as it comes", async () => {
    await using server = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
      finish = () => socket.end("def");
    });
    let finish = (): unknown => undefined;
    await using started = startEbb(["request", "--port", `${server.port}`, "/"]);
    await until("the first half", () => started.stdout() === "abc");
    finish();
    expect(await started.ended).toMatchObject({ code: 0, stdout: "abcdef" });
  });

  test("of any length takes no more memory than a short one", async () => {
    let sent = 0;
    await using server = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      pour(socket, "x".repeat(1000));
      socket.on("drain", () => {
        sent = socket.bytesWritten;
      });
    });
    const through = ["sh", "-c", 'exec "$0" "$@" >/dev/null'];
    await using started = startEbb(["request", "--timeout", "5m", "--port", `${server.port}`, "/"], { through });
    await until("300 MB have been sent", () => sent > 300e6, 110_000);
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${started.pid}/status`, "latin1")) ?? [];
    expect(Number(kib)).toBeLessThan(150_000);
  }, 120_000);

  test("nobody reads to its end: ebb ends, quietly", async () => {
    await using server = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      pour(socket, "0123456789");
    });
    const through = ["bash", "-o", "pipefail", "-c", '"$0" "$@" | head -c 10'];
    const ended = await ebb(["request", "--port", `${server.port}`, "/"], { through });
    expect(ended).toMatchObject({ code: 0, stdout: "0123456789", stderr: "" });
  });

  test.skipIf(!canHaveNetwork)("that does not fit on the disk is exit code 71", async () => {
    await using server = await startRawServer((socket) => socket.end(ok("abc")));
    const through = ["sh", "-c", 'exec "$0" "$@" >/dev/full'];
    const ended = await ebb(["request", "--port", `${server.port}`, "/"], { through });
    expect(ended).toMatchObject({ code: 71, stderr: "ebb: cannot write to stdout: no space left on device\n" });
  });

  test("that waits for its reader is not out of time", async () => {
    const body = "x".repeat(1024 * 1024); // more than sockets and pipe hold
    await using server = await startRawServer((socket) => socket.end(ok(body)));
    const through = ["bash", "-o", "pipefail", "-c", '"$0" "$@" | { sleep 2; wc -c; }'];
    const ended = await ebb(["request", "--timeout", "1s", "--port", `${server.port}`, "/"], { through });
    expect(ended).toMatchObject({ code: 0, stdout: `${body.length}\n`, stderr: "" });
  });

  test("that waits for its reader does not keep a stop signal from being heard", async () => {
    await using server = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      pour(socket, "0123456789");
    });
    using folder = temporaryFolder();
    const fifo = join(folder.path, "fifo"); // a pipe without a reader
    const through = ["sh", "-c", `mkfifo ${fifo} && exec "$0" "$@" 0<>${fifo} 1>${fifo}`];
    await using started = startEbb(["request", "--port", `${server.port}`, "/"], { through });
    const written = () => Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${started.pid}/io`, "latin1"))?.[1]);
    // pieces that are no whole pages fill a pipe of 64 KiB with less
    await until("the pipe is nearly full", () => written() >= 32_768);
    await settled("the pipe is full", written, 100);
    started.kill("SIGTERM");
    expect((await started.ended).code).toBe(143);
  });
});

describe("what brings no answer is exit code 69, and says why", () => {
  test.each<[string, string, (socket: Socket) => void]>([
    ["says nothing", "no answer in time (--timeout 1s)", () => undefined],
    ["stops half-way", "no answer in time (--timeout 1s)", (to) => to.write("HTTP/1.1 200 OK\r\n\r\nabc")],
    ["closes at once", "the connection was closed before the answer was complete", (to) => to.end()],
    ["resets", "the connection was closed before the answer was complete", (to) => to.resetAndDestroy()],
    [
      "closes half-way",
      "the connection was closed before the answer was complete",
      (to) => to.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
    ],
    ["speaks something else", "the answer is not HTTP", (to) => to.end("SSH-2.0-OpenSSH\r\n\r\n")],
    [
      "has bad chunks",
      "the answer is not HTTP",
      (to) => to.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    ],
  ])("a server that %s: %s", async (_, reason, answer) => {
    await using server = await startRawServer(answer);
    const timeout = reason.startsWith("no answer") ? "1s" : "20s";
    const { code, stderr } = await ebb(["request", "--timeout", timeout, "--port", `${server.port}`, "/x"]);
    expect({ code, stderr }).toEqual({
      code: 69,
      stderr: `ebb: request: GET http://localhost:${server.port}/x: ${reason}\n`,
    });
  });

  test.each([
    [["http://127.0.0.1:1/"], "connection refused"],
    [["--admin", "unix:/nowhere.sock", "/"], "no such file or directory"],
    [["http://nosuch.invalid/"], "no such host"],
  ])("%j: %s", async (words, reason) => {
    const { code, stderr } = await ebb(["request", ...words]);
    expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining(reason) });
  });

  test("TLS where none is spoken", async () => {
    await using server = await startRawServer((socket) => socket.end(ok("")));
    const { code, stderr } = await ebb(["request", `https://127.0.0.1:${server.port}/`]);
    expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining("TLS") });
  });

  test.each(["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"])(
    "a certificate for another host, of a CA in %s",
    async (variable) => {
      const pem = readFileSync(certificate);
      await using server = Bun.serve({
        hostname: "127.0.0.2",
        port: 0,
        tls: { cert: pem, key: pem },
        fetch: () => new Response(),
      });
      const { code, stderr } = await ebb(["request", server.url.href], { env: { [variable]: certificate } });
      expect({ code, stderr }).toEqual({
        code: 69,
        stderr: `ebb: request: GET ${server.url}: its certificate is for another host name\n`,
      });
    },
  );
});

test.each([1, 2, 15])("stop signal %d ends a request with 128+n", async (signal) => {
  await using server = await startRawServer(() => undefined);
  await using started = startEbb(["request", "--port", `${server.port}`, "/"], { through: ["env"] });
  await until("it has asked", () => server.received() > 0);
  started.kill(signal);
  expect(await started.ended).toMatchObject({ code: 128 + signal, signal: null });
});

test.each([
  [[]],
  [["POST"]],
  [["--admin", "http://a/", "--port", "1", "/x"]],
  [["--port", "70000", "/x"]],
  [["--timeout", "0", "/x"]],
  [["--body", "a", "GET", "/x"]],
])("%j is a usage error", async (words) => {
  expect(await ebb(["request", ...words])).toMatchObject({ code: 64, stdout: "" });
});
