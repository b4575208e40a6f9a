import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { addressesOf, awaitReturn, lifeOf, watchAbsence, watchItClose } from "../../../../src/pod/quit/sidecar-life.ts";
import type { Address } from "../../../../src/shared/core/address.ts";
import { type Probe, parseProbe, withHeaders } from "../../../../src/shared/sidecars/core/probe.ts";
import { parseQuit } from "../../../../src/shared/sidecars/core/quit.ts";
import type { QuitRequest, Sidecar } from "../../../../src/shared/sidecars/core/sidecar.ts";
import { type FakeClock, stopClock } from "../../../harness/fake-clock.ts";
import { freePort } from "../../../harness/free-port.ts";
import { ok, type RawServer, startRawServer } from "../../../stand-in/raw-server.ts";

const bare: Sidecar = { name: "custom", isNative: false, envoy: undefined, ready: [], quits: [], processes: [] };
const probeOf = (url: string) => parseProbe(url) as Probe;
const at = (port: number): Address => ({ kind: "tcp", host: "127.0.0.1", port });
const { signal: unending } = new AbortController();

describe("a sidecar that refuses its quit", () => {
  const answers: Readonly<Record<string, RawServer["answer"]>> = {
    READY: (socket) => void socket.end(ok("yes")),
    UNREADY: (socket) => void socket.end("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"),
    GARBLED: (socket) => void socket.end("what?"),
    DEAF: () => undefined,
  };
  const servers: RawServer[] = [];
  const ports = new Map<string, number>();

  beforeAll(async () => {
    for (const [name, answer] of Object.entries(answers)) {
      const server = await startRawServer(answer);
      servers.push(server);
      ports.set(name, server.port);
    }
    for (const name of ["CLOSED", "QUIT"]) ports.set(name, await freePort());
  });
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  const placed = (url: string) => probeOf(url.replace(/[A-Z]+/, (name) => `127.0.0.1:${ports.get(name)}`));
  const lifeWith = (ready: readonly Probe[]) => lifeOf({ ...bare, ready }, at(ports.get("QUIT") as number), unending);

  test.each<[string, readonly (string | readonly string[])[], string]>([
    ["lives if its endpoint is ready", ["http://READY/"], "ready"],
    ["is leaving if its endpoint is not ready", ["http://UNREADY/"], "leaving"],
    ["is gone if its endpoint refuses, too", ["http://CLOSED/"], "gone"],
    ["is gone if its endpoint is at the quit's port", ["http://QUIT/"], "gone"],
    ["is gone if one of its endpoints is at the quit's port", ["http://READY/", "tcp://QUIT"], "gone"],
    ["is unknown if its endpoint answers nonsense", ["http://GARBLED/"], "unknown"],
    ["is unknown if its endpoint only accepts connections", ["tcp://READY"], "unknown"],
    ["is unknown if its endpoint is a file", ["file:/proc/self/stat"], "unknown"],
    ["is unknown without an endpoint", [], "unknown"],
    ["lives if it is ready at another of its endpoints", [["http://CLOSED/", "http://READY/"]], "ready"],
    ["lives if it accepts at another port than the quit's", [["tcp://QUIT", "tcp://UNREADY"]], "ready"],
    ["is as its first endpoint says if it is ready at none", [["http://UNREADY/", "tcp://CLOSED"]], "leaving"],
    ["is as its first endpoint says if another one hangs", [["http://UNREADY/", "http://DEAF/"]], "leaving"],
    ["is gone if it accepts at none, the quit's port among them", [["tcp://QUIT", "tcp://CLOSED"]], "gone"],
  ])("%s", async (_, ready, life) => {
    const probes = ready.map((one): Probe => {
      return typeof one === "string" ? placed(one) : { kind: "any", probes: one.map(placed) };
    });
    expect(await lifeWith(probes)).toBe(life as never);
  });

  test("is asked with the user's headers", async () => {
    const heard: (string | null)[] = [];
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ headers }) {
        heard.push(headers.get("x-token"));
        return new Response();
      },
    });
    const probe = withHeaders(probeOf(`http://127.0.0.1:${server.port}/`), [["x-token", "secret"]]);
    expect(await lifeWith([probe])).toBe("ready");
    expect(heard).toEqual(["secret"]);
  });
});

describe("to be absent, a sidecar must refuse connections at all of its ports", () => {
  const watch = (clock: FakeClock, addresses: readonly Address[], fromMs = 0, signal = unending) =>
    clock.timed(watchAbsence({ sidecar: bare, addresses, fromMs }, signal));

  test("for a second", async () => {
    const addresses = [at(await freePort()), at(await freePort())];
    using clock = stopClock();
    const [isAbsent, tookMs] = await watch(clock, addresses);
    expect(isAbsent).toBe(true);
    expect(tookMs).toBeWithin(1000, 1050);
  });

  test("for another second after one of them was open", async () => {
    await using server = await startRawServer(() => undefined);
    const addresses = [at(await freePort()), at(server.port)];
    using clock = stopClock();
    setTimeout(() => void server.close(), 700);
    const [isAbsent, tookMs] = await watch(clock, addresses);
    expect(isAbsent).toBe(true);
    expect(tookMs).toBeWithin(1675, 1800);
  });

  test("until it can no more be late", async () => {
    const addresses = [at(await freePort())];
    using clock = stopClock();
    const [isAbsent, tookMs] = await watch(clock, addresses, performance.now() + 4000);
    expect(isAbsent).toBe(true);
    expect(tookMs).toBeWithin(4000, 4050);
  });

  test("and is not, once the quit is over", async () => {
    const addresses = [at(await freePort())];
    using clock = stopClock();
    const [isAbsent, tookMs] = await watch(clock, addresses, 0, AbortSignal.timeout(500));
    expect(isAbsent).toBe(false);
    expect(tookMs).toBeWithin(500, 550);
  });
});

describe("a port is watched", () => {
  test("until it refuses connections", async () => {
    await using server = await startRawServer(() => undefined);
    using clock = stopClock();
    setTimeout(() => void server.close(), 300);
    const [isClosed, tookMs] = await clock.timed(watchItClose(at(server.port), unending));
    expect(isClosed).toBe(true);
    expect(tookMs).toBeWithin(300, 350);
  });

  test("until the quit is over", async () => {
    await using server = await startRawServer(() => undefined);
    using clock = stopClock();
    const [isClosed, tookMs] = await clock.timed(watchItClose(at(server.port), AbortSignal.timeout(300)));
    expect(isClosed).toBe(false);
    expect(tookMs).toBeWithin(300, 350);
  });
});

describe("the return of a sidecar is awaited", () => {
  test("until it listens again", async () => {
    await using server = await startRawServer(() => undefined);
    await server.close();
    using clock = stopClock();
    setTimeout(() => void server.open(), 700);
    const [isBack, tookMs] = await clock.timed(awaitReturn(at(server.port), unending));
    expect(isBack).toBe(true);
    expect(tookMs).toBeWithin(700, 800);
  });

  test.each<[string, () => AbortSignal, number]>([
    ["for two seconds at most", () => unending, 2000],
    ["no longer than the quit lasts", () => AbortSignal.timeout(300), 300],
  ])("%s", async (_, signal, endMs) => {
    const address = at(await freePort());
    using clock = stopClock();
    const [isBack, tookMs] = await clock.timed(awaitReturn(address, signal()));
    expect(isBack).toBe(false);
    expect(tookMs).toBeWithin(endMs, endMs + 50);
  });
});

test("a sidecar may listen at its quits and their fallbacks, its endpoints, its admin interface and its open port", () => {
  const quitAt = (port: number) => parseQuit(`http://127.0.0.1:${port}/`) as QuitRequest;
  const fallback = { target: quitAt(2).target };
  const sidecar: Sidecar = {
    ...bare,
    quits: [
      { ...quitAt(1), fallback },
      { ...quitAt(9), isAdditional: true },
    ],
    ready: [
      probeOf("http://127.0.0.1:3/"),
      { kind: "any", probes: [4, 5].map((port) => probeOf(`tcp:127.0.0.1:${port}`)) },
    ],
    envoy: { admin: quitAt(6).target, drainPath: "/" },
    alwaysOpen: at(7),
  };
  expect(addressesOf(sidecar)).toEqual([1, 2, 3, 4, 5, 6, 7].map(at));
});
