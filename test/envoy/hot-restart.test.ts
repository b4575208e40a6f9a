import { expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { drainLineOf, ebb, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";
import { holdRequest, holdTcp, startBackend } from "./traffic.ts";

setDefaultTimeout(60_000);

/** Starts an Envoy, and another that takes over from it by a hot restart; `epoch` starts each. */
async function createEpochs({ port, tcpPort }: { readonly port: number; readonly tcpPort: number }) {
  // no other test has it
  const base = await freePort();
  const admin = { host: "127.0.0.1", port: await freePort() };
  const listeners = [
    { name: "http", port: await freePort() },
    { name: "raw", port: await freePort(), tcpPort },
  ];
  return {
    epoch: (number: number) => {
      const hotRestart = ["--base-id", `${base}`, "--restart-epoch", `${number}`];
      return startEnvoy({ upstreamPort: port, admin, listeners, hotRestart });
    },
    [Symbol.dispose]: () => rmSync(`/dev/shm/envoy_shared_memory_${base}0`, { force: true }),
  };
}

describeAgainstEnvoy("an Envoy that was hot-restarted", () => {
  test("is waited for with what its old process has in flight, and status counts that", async () => {
    await using backend = await startBackend();
    using epochs = await createEpochs(backend);
    await using old = await epochs.epoch(0);
    const session = await holdTcp({ port: old.portOf("raw"), backend });
    const request = await holdRequest({ port: old.portOf("http"), backend }, "/hold/1");
    await using envoy = await epochs.epoch(1);
    await until("it has the statistics of its old process", async () => {
      const answer = await fetch(`${envoy.admin}/stats?filter=downstream_cx_active$`);
      return (await answer.text()).includes(`_${envoy.portOf("raw")}.downstream_cx_active: 1\n`);
    });
    const { stdout } = await ebb(["status", "--json", "--sidecar", "envoy", "--admin", envoy.admin]);
    expect(JSON.parse(stdout).sidecars[0].envoy).toMatchObject({
      epoch: 1,
      inFlight: { requests: 1, connections: 1, hasRequests: true, countedBy: "listeners" },
    });
    const ended = await ebb(["drain", "--admin", envoy.admin, "--min-drain", "200ms", "--drain", "1500ms"]);
    expect(drainLineOf(ended)).toMatchObject({ outcome: "out of time with 2 left (1 request, 1 connection)" });
    expect(await request.finish()).toBe("200 /hold/1");
    expect(await session.finish()).toBe("hello bye");
  });
});
