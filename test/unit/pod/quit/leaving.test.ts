import { describe, expect, test } from "bun:test";
import { hasAgent, isAgentLeaving } from "../../../../src/pod/quit/agent.ts";
import { endLeaving, TOGETHER_MS } from "../../../../src/pod/quit/leaving.ts";
import { type HttpTarget, parseHttpTarget } from "../../../../src/shared/core/address.ts";
import type { Log } from "../../../../src/shared/output/log.ts";
import type { Sidecar } from "../../../../src/shared/sidecars/core/sidecar.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { freePort } from "../../../harness/free-port.ts";
import { startRawServer } from "../../../stand-in/raw-server.ts";
import { fakeSidecar } from "../../../stand-in/sidecar.ts";

const proxy: Sidecar = { name: "istio", isNative: false, envoy: undefined, ready: [], quits: [], processes: [] };
const at = (port: number) => ({ kind: "tcp", host: "127.0.0.1", port }) as const;
const envoyAt = (port: number) => ({
  admin: parseHttpTarget(`http://127.0.0.1:${port}`) as HttpTarget,
  drainPath: "/drain_listeners",
});

describe("the port of an agent", () => {
  test.each<[string, Partial<Sidecar>, boolean]>([
    ["tells whether it has got its SIGTERM", {}, true],
    ["tells nothing of a native sidecar's", { isNative: true }, false],
    ["tells nothing where the proxy has none", { name: "envoy" }, false],
    ["tells nothing of what the user describes", { name: "custom" }, false],
  ])("%s", async (_, more, isKnown) => {
    await using server = await startRawServer(() => undefined);
    const sidecar = { ...proxy, alwaysOpen: at(server.port), ...more };
    expect([hasAgent(sidecar), isAgentLeaving(sidecar)]).toEqual([isKnown, false]);
    await server.close();
    expect([hasAgent(sidecar), isAgentLeaving(sidecar)]).toEqual([false, isKnown]);
  });
});

describe("the Envoy of an agent", () => {
  test.each<[string, number, number | undefined, readonly string[]]>([
    ["that has got its SIGTERM is asked to exit", 0, 0, ["POST /quitquitquit"]],
    ["that gets its SIGTERM within the time is asked to exit", TOGETHER_MS, 800, ["POST /quitquitquit"]],
    ["that gets its SIGTERM later is left alone", TOGETHER_MS, 1200, []],
    ["that gets none is left alone", 0, undefined, []],
  ])("%s", async (_, withinMs, closesAfterMs, requests) => {
    await using envoy = await fakeSidecar();
    await using agent = await startRawServer(() => undefined);
    const sidecar = { ...proxy, alwaysOpen: at(agent.port), envoy: envoyAt(envoy.port) };
    const said: string[] = [];
    const log = { info: (_: object, msg: string) => said.push(msg) } as unknown as Log;
    if (closesAfterMs === 0) await agent.close();
    using clock = stopClock();
    if (closesAfterMs !== undefined && closesAfterMs > 0) setTimeout(() => void agent.close(), closesAfterMs);
    await clock.timed(endLeaving([sidecar], withinMs, log));
    expect(envoy.requests).toEqual(requests);
    expect(said).toHaveLength(requests.length);
  });

  test("that has ended by itself is not logged as asked", async () => {
    const sidecar = { ...proxy, alwaysOpen: at(await freePort()), envoy: envoyAt(await freePort()) };
    const said: string[] = [];
    await endLeaving([sidecar], 0, { info: (_: object, msg: string) => said.push(msg) } as unknown as Log);
    expect(said).toEqual([]);
  });
});
