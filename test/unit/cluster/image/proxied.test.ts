import { expect, test } from "bun:test";
import { findOnce } from "./asking.ts";
import { startForwardProxy } from "./forward-proxy.ts";
import { Content, startStandIn } from "./stand-in-registry.ts";

const content = new Content();
content.add("app:latest", { config: { Entrypoint: ["/app"] } });
const portOf = (host: string) => Number(host.split(":")[1]);

test("a registry is asked through HTTPS_PROXY", async () => {
  await using registry = startStandIn(content);
  await using proxy = await startForwardProxy(portOf(registry.host));
  const lookup = await findOnce("registry.example.com/app", { env: { HTTPS_PROXY: proxy.url } });
  expect(lookup).toMatchObject({ command: { entrypoint: ["/app"] } });
  expect(proxy.lines).toContain("CONNECT registry.example.com:443 HTTP/1.1");
});

test("a registry that NO_PROXY names is asked itself", async () => {
  await using registry = startStandIn(content);
  await using proxy = await startForwardProxy(1);
  const env = { HTTPS_PROXY: proxy.url, NO_PROXY: "localhost" };
  expect(await findOnce(`${registry.host}/app`, { env })).toMatchObject({ kind: "found" });
  expect(proxy.lines).toEqual([]);
});

test("a proxy that is not there is named, without its password", async () => {
  const env = { HTTPS_PROXY: "http://me:s3cret@127.0.0.1:1" };
  const { reason = "" } = (await findOnce("registry.example.com/app", { env })) as { readonly reason?: string };
  expect(reason).toMatch(
    /^the proxy http:\/\/\*\*\*@127\.0\.0\.1:1\/? cannot be reached: connection refused; check HTTPS_PROXY$/,
  );
  expect(reason).not.toContain("s3cret");
});

test("a registry that a proxy does not reach is named as the image names it, and as it is called", async () => {
  const refusing = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n") },
  });
  const env = { HTTPS_PROXY: `http://127.0.0.1:${refusing.port}` };
  expect(await findOnce("app", { env })).toMatchObject({
    failure: "unreachable",
    reason: expect.stringMatching(
      /^docker\.io \(registry-1\.docker\.io\) through the proxy .* cannot be reached: .*502/,
    ),
  });
  refusing.stop(true);
});

test.each(["https://127.0.0.1:1/", "https://169.254.169.254/", "https://[fd00::1]/"])(
  "a registry behind a proxy does not lead to %s",
  async (location) => {
    await using registry = startStandIn(content, ({ line }) =>
      line.includes("/blobs/") ? new Response(null, { status: 307, headers: { location } }) : undefined,
    );
    await using proxy = await startForwardProxy(portOf(registry.host));
    expect(await findOnce("registry.example.com/app", { env: { HTTPS_PROXY: proxy.url } })).toMatchObject({
      failure: "invalid",
      reason: expect.stringContaining("is internal"),
    });
  },
);
