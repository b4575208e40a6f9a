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
    await until("it has started", () => former.stderr().includes('"ebb: started the command"'));
    former.kill("SIGTERM");
    await former.ended;
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
    const next = await ebb(["run", "--admin", envoy.admin, ...drain, "--", "true"]);
    expect(next.code).toBe(0);
    expect(next.log).toContainEqual(expect.objectContaining({ level: "warn", sidecar: "envoy", answer: "HTTP 200" }));
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(200);
  });

  test.each(["Always", "OnFailure"])("takes a preStop hook's drain back, where the policy is %s", async (policy) => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    const hook = await ebb(["drain", "--admin", envoy.admin, "--drain", "5s", "--min-drain", "100ms"]);
    expect(hook.code).toBe(0);
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
    const next = await ebb(["run", "--admin", envoy.admin, "--restart-policy", policy, "--", "true"]);
    expect(next.code).toBe(0);
    expect(next.log).toContainEqual(expect.objectContaining({ level: "warn", sidecar: "envoy", answer: "HTTP 200" }));
  });

  test.each([
    ["nothing tells that there was a container before", []],
    ["there was none", ["--restart-policy", "Never"]],
  ])("does not, where %s: whoever failed the health checks meant it", async (_, flags) => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    await fetch(`${envoy.admin}/healthcheck/fail`, { method: "POST" });
    const wait = ["--admin", envoy.admin, "--wait-timeout", "200ms", "--quit-on", "never", ...flags];
    const { code } = await ebb(["run", ...wait, "--", "true"]);
    expect(code).toBe(69);
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
  });
});
