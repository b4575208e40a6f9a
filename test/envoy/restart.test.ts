import { expect, test } from "bun:test";
import { ebb, startEbb, until } from "../harness.ts";
import { describeAgainstEnvoy } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";
import { startUpstream } from "./servers.ts";

describeAgainstEnvoy("a container that starts beside an Envoy which a former container has drained", () => {
  const drain = ["--drain", "5s", "--min-drain", "100ms", "--restart-policy", "Always"];

  test("takes the drain back, and finds Envoy ready", async () => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    await using former = startEbb(["run", "--admin", envoy.admin, ...drain, "--", "sleep", "100"]);
    await until("it has started", () => former.stderr().includes('"ebb: started"'));
    former.kill("SIGTERM");
    await former.ended;
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
    const next = await ebb(["run", "--admin", envoy.admin, ...drain, "--", "true"]);
    expect(next.code).toBe(0);
    expect(next.log).toContainEqual(expect.objectContaining({ level: "warn", sidecar: "envoy", answer: "HTTP 200" }));
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(200);
  });

  test("does not, where it would not drain itself: whoever failed the health checks meant it", async () => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    await fetch(`${envoy.admin}/healthcheck/fail`, { method: "POST" });
    const { code } = await ebb([
      "run",
      "--admin",
      envoy.admin,
      "--wait-timeout",
      "200ms",
      "--quit-on",
      "never",
      "--",
      "true",
    ]);
    expect(code).toBe(69);
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
  });
});
