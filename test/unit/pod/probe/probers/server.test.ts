import { describe, expect, test } from "bun:test";
import type { Prober } from "../../../../../src/pod/probe/prober.ts";
import { proberOf } from "../../../../../src/pod/probe/probers/kinds.ts";
import { MAX_IN_FLIGHT, proberAt } from "../../../../../src/pod/probe/probers/server.ts";
import type { ConnectionCounts, Done } from "../../../../../src/shared/http/connection.ts";
import { REFUSED, RequestFailed } from "../../../../../src/shared/http/request-failed.ts";
import { type Probe, type ProbeVerdict, parseProbe } from "../../../../../src/shared/sidecars/core/probe.ts";
import { temporaryFolder } from "../../../../harness/ebb.ts";
import { freePort } from "../../../../harness/free-port.ts";
import { startGrpcServer } from "../../../../stand-in/grpc.ts";
import { startRawServer } from "../../../../stand-in/raw-server.ts";
import { fakeSidecar } from "../../../../stand-in/sidecar.ts";

const verdictOf = (prober: Prober) => new Promise<ProbeVerdict>((done) => void prober.attempt(done));
const broken = new RequestFailed("broken", "broken");
const refused = new RequestFailed("refused", REFUSED);

/** A prober whose answers are given, one for each time that it asks; it hangs after them. */
function scripted(port: number, answers: readonly (ProbeVerdict | RequestFailed)[], host = "127.0.0.1") {
  const left = [...answers];
  let asked = 0;
  let counts: ConnectionCounts | undefined;
  const prober = proberAt({ kind: "tcp", host, port }, (own) => {
    counts = own;
    return {
      ask(done: Done<ProbeVerdict>) {
        asked += 1;
        const answer = left.shift();
        if (answer !== undefined) done(answer);
        return () => undefined;
      },
    };
  });
  return { prober, asked: () => asked, counts: counts as unknown as ConnectionCounts };
}

describe("a server", () => {
  test("that has refused is asked again only once its port is open", async () => {
    await using server = await startRawServer(() => undefined);
    await server.close();
    const { prober, asked } = scripted(server.port, [refused, { ready: true }]);
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await verdictOf(prober)).toEqual({ ready: false, reason: "connection refused" });
    expect(asked()).toBe(1);
    await server.open();
    expect(await verdictOf(prober)).toEqual({ ready: true });
    expect(asked()).toBe(2);
  });

  test("that has failed otherwise is asked each time, also if it refuses now", async () => {
    const { prober, asked } = scripted(await freePort(), [broken, broken]);
    for (const _ of [1, 2]) expect(await verdictOf(prober)).toEqual({ ready: false, reason: "broken" });
    expect(asked()).toBe(2);
  });

  test("to which a connection is being opened is not asked once its port refuses", async () => {
    const { prober, asked, counts } = scripted(await freePort(), []);
    counts.opening = 1;
    expect(await verdictOf(prober)).toEqual({ ready: false, reason: "connection refused" });
    expect(asked()).toBe(0);
  });

  test("off loopback gets eight connections that hang, and no more", async () => {
    const { prober, asked, counts } = scripted(1, [{ ready: true }], "192.0.2.1");
    counts.opening = MAX_IN_FLIGHT - 1;
    expect(await verdictOf(prober)).toEqual({ ready: true });
    counts.opening = MAX_IN_FLIGHT;
    expect(await verdictOf(prober)).toEqual({ ready: false, reason: "no answer" });
    expect(asked()).toBe(1);
  });
});

describe("a probe", () => {
  const probeOf = (url: string) => parseProbe(url) as Probe;

  test("by HTTP is judged by its own rules, and keeps its connection", async () => {
    await using sidecar = await fakeSidecar({ isReady: false });
    const prober = proberOf(probeOf(`${sidecar.url}/ready`));
    expect(await verdictOf(prober)).toMatchObject({ ready: false, reason: expect.stringContaining("HTTP 503") });
    sidecar.isReady = true;
    expect(await verdictOf(prober)).toEqual({ ready: true });
    prober.end?.();
    expect(await verdictOf(proberOf({ ...probeOf(`${sidecar.url}/ready`), only: 204 } as Probe))).toMatchObject({
      reason: "HTTP 200, expected 204",
    });
  });

  test("by gRPC is about to tell while its client is loaded, and keeps one connection", async () => {
    await using server = await startGrpcServer();
    const prober = proberOf(probeOf(`grpc://127.0.0.1:${server.port}`));
    const first = verdictOf(prober);
    expect(prober.isDeciding?.()).toBe(true);
    expect(await first).toMatchObject({ ready: false });
    server.statuses.set("", 1);
    expect(await verdictOf(prober)).toEqual({ ready: true });
    expect(server.connections).toEqual({ made: 1, open: 1 });
    prober.end?.();
  });

  test("by a connection that must stay open is about to tell while it is", async () => {
    await using server = await startRawServer(() => undefined);
    const prober = proberOf({ ...probeOf(`tcp://127.0.0.1:${server.port}`), staysOpenMs: 50 } as Probe);
    const verdict = verdictOf(prober);
    expect(prober.isDeciding?.()).toBe(false); // it is not open yet
    expect(await verdict).toEqual({ ready: true });
    expect(prober.isDeciding?.()).toBe(false);
  });

  test("of a file is ready once it is there, and has contents if it must", async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/ready`;
    const [some, full] = [proberOf(probeOf(`file:${path}`)), proberOf(probeOf(`file:${path}?nonempty`))];
    const isReady = async (prober: Prober) => (await verdictOf(prober)).ready;
    expect([await isReady(some), await isReady(full)]).toEqual([false, false]);
    await Bun.write(path, "");
    expect([await isReady(some), await isReady(full)]).toEqual([true, false]);
    await Bun.write(path, "x");
    expect([await isReady(some), await isReady(full)]).toEqual([true, true]);
  });
});
