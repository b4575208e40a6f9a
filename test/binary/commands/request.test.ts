import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { ebb, ebbPath, startEbb, temporaryFolder, until } from "../../harness.ts";
import { pour, startRawServer } from "../../stand-in/raw-server.ts";
import { settled } from "../../time.ts";
import { canHaveNetwork, ebbBeside } from "../sidecars/own-network.ts";

const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** A server that answers with the request itself; node's own, so that the request is one. */
async function startMirror(where: { readonly host: string } | { readonly path: string }) {
  const server = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request)).join("");
    const { method, url, rawHeaders } = request;
    response.end(JSON.stringify({ method, url, rawHeaders, body }));
  });
  await new Promise<void>((listening) => server.listen({ port: 0, ...where }, listening));
  const address = server.address();
  return {
    port: typeof address === "object" ? address?.port : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

describe("ebb request sends", () => {
  test.each([
    [["/stats?usedonly"], { method: "GET", url: "/stats?usedonly", body: "" }],
    [["POST", "quitquitquit"], { method: "POST", url: "/quitquitquit", body: "" }],
    [["POST", "/tap", "a body"], { method: "POST", url: "/tap", body: "a body" }],
    [["--body", "a body", "/tap"], { method: "POST", url: "/tap", body: "a body" }],
    [["PUT", "/x", "--body", ""], { method: "PUT", url: "/x", body: "" }],
  ])("%j to the port of --port", async (words, sent) => {
    await using server = await startMirror({ host: "127.0.0.1" });
    const { code, stdout, stderr } = await ebb(["request", "--port", `${server.port}`, ...words]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject(sent);
  });

  test("headers as they are given, its own name, and no wish for compression", async () => {
    await using server = await startMirror({ host: "127.0.0.1" });
    const url = `http://127.0.0.1:${server.port}/`;
    const { stdout } = await ebb(["request", "--header", "X-A: 1", "--header", "Host: app.example", url]);
    const { rawHeaders } = JSON.parse(stdout) as Seen;
    expect(rawHeaders.join("\n").toLowerCase()).toContain("host\napp.example");
    expect(rawHeaders.join("\n").toLowerCase()).toContain("x-a\n1");
    expect(rawHeaders.join("\n").toLowerCase()).toContain("accept-encoding\nidentity");
    expect(rawHeaders).toContain("ebb");
  });

  test("no header of EBB_HEADER: a token there is for the sidecars' quits", async () => {
    await using server = await startMirror({ host: "127.0.0.1" });
    const env = { EBB_HEADER: "dapr-api-token: secret" };
    const { code, stdout } = await ebb(["request", `http://127.0.0.1:${server.port}/`], { env });
    expect({ code, isSent: stdout.includes("secret") }).toEqual({ code: 0, isSent: false });
  });

  test("what stdin says as the body with --body -", async () => {
    await using server = await startMirror({ host: "127.0.0.1" });
    const through = ["sh", "-c", 'printf "a\\nb" | "$0" "$@"'];
    const { stdout } = await ebb(["request", "--port", `${server.port}`, "--body", "-", "/x"], { through });
    expect((JSON.parse(stdout) as Seen).body).toBe("a\nb");
  });

  test("a path to the unix socket of --admin", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "admin.sock");
    await using _server = await startMirror({ path });
    const { code, stdout } = await ebb(["request", "--admin", `unix:${path}`, "/stats"]);
    expect({ code, url: (JSON.parse(stdout) as Seen).url }).toEqual({ code: 0, url: "/stats" });
  });

  test.each([
    ["127.0.0.1", "localhost"],
    ["::1", "localhost"],
    ["::1", "[::1]"],
  ])("to %s as %s", async (host, name) => {
    await using server = await startMirror({ host });
    const { code, stdout, stderr } = await ebb(["request", `http://${name}:${server.port}/x`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect((JSON.parse(stdout) as Seen).rawHeaders).toContain(`${name}:${server.port}`);
  });

  test("to nobody else, whatever the proxy variables say", async () => {
    await using proxy = await startRawServer((socket) => socket.end(ok("the proxy")));
    await using server = await startMirror({ host: "127.0.0.1" });
    const url = `http://127.0.0.1:${proxy.port}`;
    const env = { HTTP_PROXY: url, http_proxy: url, ALL_PROXY: url };
    const { stdout } = await ebb(["request", `http://127.0.0.1:${server.port}/`], { env });
    expect(stdout).not.toContain("the proxy");
    expect(proxy.received()).toBe(0);
  });
});

describe("ebb request finds where the admin interface is", () => {
  test("flags come before variables, --admin's variable before --port's", async () => {
    await using server = await startMirror({ host: "127.0.0.1" });
    const here = `${server.port}`;
    const admin = `http://127.0.0.1:${here}`;
    for (const [flags, env] of [
      [["--admin", admin], { EBB_ADMIN_PORT: "1" }],
      [["--port", here], { ENVOY_ADMIN_API: "http://127.0.0.1:1" }],
      [[], { ENVOY_ADMIN_API: admin }],
    ] as const) {
      expect((await ebb(["request", ...flags, "/"], { env })).code).toBe(0);
    }
  });

  test("a Service named ebb, for which Kubernetes sets EBB_PORT, changes nothing", async () => {
    await using server = await startMirror({ host: "127.0.0.1" });
    const env = { EBB_PORT: "tcp://10.96.0.5:443" };
    expect((await ebb(["request", "--port", `${server.port}`, "/"], { env })).code).toBe(0);
  });

  describe.skipIf(!canHaveNetwork)("in a network of its own", () => {
    test.each([
      [9901, [{ port: 9901 }]],
      [15000, [{ port: 15000 }, { port: 15021 }]],
      [4191, [{ port: 4191 }]],
    ])("port %d", async (port, sidecars) => {
      const wait = ["wait", "--quiet", "--"]; // becomes the request once they listen
      const { requests } = await ebbBeside(sidecars, [...wait, ebbPath, "request", "/stats"]);
      expect(requests).toContain(`${port} GET /stats`);
    });

    test.skipIf(Bun.which("ip") === null)("on localhost, though there is no IPv4", async () => {
      const program = join(import.meta.dirname, "../../stand-in/sidecars.ts");
      const sidecars = JSON.stringify([{ port: 15000, host: "::1" }]);
      const script = 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo; "$0" "$1" "$2" & shift 2; exec "$@"';
      const start = ["sh", "-c", script, process.execPath, program, sidecars];
      const through = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", ...start];
      const wait = ["wait", "--quiet", "--sidecar", "none", "http://[::1]:15000/ready", "--"];
      const ended = await ebb([...wait, ebbPath, "request", "--host-network=false", "GET", "/ready"], { through });
      expect(ended).toMatchObject({ code: 0, stdout: "LIVE\n" });
    });

    test("Istio's where no sidecar is found", async () => {
      const { code, stderr } = await ebbBeside([], ["request", "/stats"]);
      expect({ code, stderr }).toEqual({
        code: 69,
        stderr: "ebb: GET http://localhost:15000/stats: connection refused\n",
      });
    });
  });
});

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
    const stderr = code === 0 ? "" : `ebb: HTTP ${status}${text === "" ? "" : ` ${text.split("\r")[0]}`}\n`;
    expect(ended).toMatchObject({ code, stdout: "abc", stderr });
  });

  test("that redirects is not followed, which is said", async () => {
    const head = "HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 3\r\n\r\n";
    await using server = await startRawServer((socket) => socket.end(`${head}abc`));
    expect(await ebb(["request", "--port", `${server.port}`, "/"])).toMatchObject({
      code: 0,
      stdout: "abc",
      stderr: 'ebb: HTTP 302 Found: not followed to "http://elsewhere/"\n',
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
    expect(ended).toMatchObject({ code: 71, stderr: "ebb: stdout: no space left on device\n" });
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
    const fifo = join(folder.path, "fifo"); // a pipe that nobody reads
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
    const { code, stderr } = await ebb(["request", "--timeout", "1s", "--port", `${server.port}`, "/x"]);
    expect({ code, stderr }).toEqual({ code: 69, stderr: `ebb: GET http://localhost:${server.port}/x: ${reason}\n` });
  });

  test.each([
    [["http://127.0.0.1:1/"], "connection refused"],
    [["--admin", "unix:/nowhere.sock", "/"], "no such socket"],
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
