import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { join } from "node:path";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { ok, startRawServer } from "../../stand-in/raw-server.ts";
import { canHaveNetwork, ebbBeside } from "../sidecars/own-network.ts";

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
        stderr: "ebb: request: GET http://localhost:15000/stats: connection refused\n",
      });
    });
  });
});
