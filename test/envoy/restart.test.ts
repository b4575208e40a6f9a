import { expect, test } from "bun:test";
import { ebb, startEbb, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy } from "./against-envoy.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";
import { startUpstream } from "./servers.ts";
import { open, send } from "./traffic.ts";

describeAgainstEnvoy("a container that starts beside an Envoy which a former container has drained", () => {
  const drain = ["--drain", "5s", "--min-drain", "100ms", "--restart-policy", "Always"];

  /** Starts an Envoy as the kubelet does: again, on the same ports, whenever it has exited. */
  async function startForEver(upstreamPort: number) {
    const admin = { host: "127.0.0.1", port: await freePort() };
    const listenerPort = await freePort();
    const listeners = [{ name: "in", direction: "INBOUND" as const }];
    // Istio's flag, so that each answer tells at once whether Envoy drains
    const flags = ["--drain-strategy", "immediate"];
    let isOver = false;
    let starts = 0;
    let envoy: Envoy | undefined;
    const keepUp = async (): Promise<void> => {
      while (!isOver) {
        envoy = await startEnvoy({ upstreamPort, admin, listenerPort, listeners, flags });
        starts += 1;
        if (isOver) envoy.kill("SIGKILL");
        await envoy.ended;
        await envoy[Symbol.asyncDispose]();
      }
    };
    const done = keepUp();
    await until("Envoy runs", () => starts > 0);
    return {
      admin: `http://127.0.0.1:${admin.port}`,
      starts: () => starts,
      /** Reports whether the answer to a request asks its client to close the connection. */
      async closes(): Promise<boolean> {
        const connection = await open(listenerPort);
        const { closes } = await send(connection, "/");
        connection.socket.destroy();
        return closes;
      },
      async [Symbol.asyncDispose]() {
        isOver = true;
        envoy?.kill("SIGKILL");
        await done;
      },
    };
  }

  const hook = ["--drain", "5s", "--min-drain", "100ms"];

  test.each([
    ["its own drain", true],
    ["a preStop hook's", false],
  ])("quits one that the kubelet restarts, so that its answers keep connections alive: %s", async (_, isOwn) => {
    await using upstream = startUpstream();
    await using envoy = await startForEver(upstream.port);
    const flags = ["--admin", envoy.admin, ...(isOwn ? drain : ["--restart-policy", "Always"])];
    expect(await envoy.closes()).toBe(false);
    if (isOwn) {
      await using former = startEbb(["run", ...flags, "--", "sleep", "100"]);
      await until("it has started", () => former.stderr().includes('"ebb: started the command"'));
      former.kill("SIGTERM");
      await former.ended;
    } else expect((await ebb(["drain", "--admin", envoy.admin, ...hook])).code).toBe(0);
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
    // nothing undoes it
    expect((await fetch(`${envoy.admin}/healthcheck/ok`, { method: "POST" })).status).toBe(200);
    expect(await envoy.closes()).toBe(true);
    await fetch(`${envoy.admin}/healthcheck/fail`, { method: "POST" });

    await using next = startEbb(["run", ...flags, "--", "sleep", "100"]);
    await until("it has started again", () => next.stderr().includes('"ebb: started the command"'));
    await until("the next Envoy is known here, too", () => envoy.starts() === 2);
    expect(await envoy.closes()).toBe(false);
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(200);
    const said = next.stderr();
    expect(said.indexOf("asked the sidecar to exit")).toBeLessThan(said.indexOf("started the command"));
    expect(said).toContain("asking it to exit, so that the kubelet restarts it");
    expect(said).not.toContain("made its health checks pass again");
  });

  test.each([
    ["OnFailure", []],
    ["Always", ["--quit-on", "never"]],
    ["Always", ["--quit", "none"]],
  ])(
    "makes the health checks of one pass that it does not quit, where the policy is %s, with %j",
    async (policy, more) => {
      await using upstream = startUpstream();
      await using envoy = await startEnvoy({ upstreamPort: upstream.port });
      expect((await ebb(["drain", "--admin", envoy.admin, ...hook])).code).toBe(0);
      expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
      const next = await ebb(["run", "--admin", envoy.admin, "--restart-policy", policy, ...more, "--", "false"]);
      expect(next.code).toBe(1);
      expect(next.log).toContainEqual(expect.objectContaining({ level: "warn", sidecar: "envoy", answer: "HTTP 200" }));
      expect((await fetch(`${envoy.admin}/ready`)).status).toBe(200);
    },
  );

  test("makes the health checks of one pass that refuses the quit", async () => {
    await using upstream = startUpstream();
    const allowPaths = ["/ready", "/healthcheck", "/drain_listeners", "/stats", "/listeners", "/config_dump"];
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, allowPaths });
    expect((await ebb(["drain", "--admin", envoy.admin, ...hook])).code).toBe(0);
    const next = await ebb(["run", "--admin", envoy.admin, "--restart-policy", "Always", "--", "true"]);
    expect(next.code).toBe(0);
    expect(next.log).toContainEqual(expect.objectContaining({ msg: "ebb: could not shut down the sidecar" }));
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
