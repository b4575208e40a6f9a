import { expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { childPath } from "../harness/compiled.ts";
import { ebb, temporaryFolder } from "../harness/ebb.ts";
import { describeAgainstEnvoy, job, quitOf } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";
import { startUpstream } from "./servers.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

describeAgainstEnvoy("the admin interface of a real Envoy", () => {
  const addresses: readonly [host: string, name: string][] = [
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "localhost"],
    ["::1", "[::1]"],
    ["::1", "localhost"],
  ];
  for (const [host, name] of addresses) {
    const isPossible = host !== "::1" || hasIpv6;
    const title = `on ${host} alone is reached as ${name}`;
    test.skipIf(!isPossible)(isPossible ? title : `${title}: this machine has no IPv6`, async () => {
      await using upstream = startUpstream();
      await using envoy = await startEnvoy({ upstreamPort: upstream.port, admin: { host, port: 0 } });
      const admin = `http://${name}:${new URL(envoy.admin).port}`;
      const ended = await ebb(["run", "--admin", admin, "--", ...job(envoy.url, 10, 42)]);
      expect(ended.stdout).toContain("10 of 10 requests answered");
      expect(ended.code).toBe(42);
      expect(quitOf(ended)).toMatchObject({ status: 200, outcome: "exited" });
      expect(await envoy.ended).toBe(0);
    });
  }

  test("is reached on a unix socket", async () => {
    using folder = temporaryFolder();
    await using upstream = startUpstream();
    const path = join(folder.path, "admin.sock");
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, admin: { path } });
    const ended = await ebb(["run", "--admin", `unix:${path}`, "--", ...job(envoy.url, 10, 42)]);
    expect(ended.stdout).toContain("10 of 10 requests answered");
    expect(ended.code).toBe(42);
    expect(quitOf(ended)).toMatchObject({ status: 200, outcome: "exited" });
    expect(await envoy.ended).toBe(0);
  });

  test("that does not allow /quitquitquit is explained, and the command's code is kept", async () => {
    await using upstream = startUpstream();
    const allowPaths = ["/ready", "/listeners"];
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, allowPaths });
    const ended = await ebb(["run", "--admin", envoy.admin, "--", childPath(), "exit", "42"]);
    expect(ended.code).toBe(42);
    expect(quitOf(ended)).toMatchObject({
      level: "warn",
      status: 403,
      outcome: expect.stringContaining("admin.allow_paths"),
    });
    expect(envoy.isRunning()).toBe(true);
  });

  test("that does not allow /ready is not ready, because of 403", async () => {
    await using upstream = startUpstream();
    const allowPaths = ["/quitquitquit", "/listeners"];
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, allowPaths });
    const limit = ["--wait-timeout", "2s"];
    const ended = await ebb(["run", ...limit, "--admin", envoy.admin, "--", childPath(), "exit", "42"]);
    expect(ended.code).toBe(69);
    expect(ended.stderr).toContain("HTTP 403");
    expect(await envoy.ended).toBe(0);
  });
});
