import { expect, test } from "bun:test";
import { drainAll } from "../../../../src/pod/envoy/drain.ts";
import { type HttpTarget, parseHttpTarget } from "../../../../src/shared/core/address.ts";
import type { Log } from "../../../../src/shared/output/log.ts";
import type { Sidecar } from "../../../../src/shared/sidecars/core/sidecar.ts";
import { type FakeClock, stopClock } from "../../../harness/fake-clock.ts";
import { admin as idle } from "./core/stats-texts.ts";

const configuration = JSON.stringify({ configs: [{ listener: { name: "in", traffic_direction: "INBOUND" } }] });
const bodies: Readonly<Record<string, string>> = { "/stats": idle, "/config_dump": configuration };

/** An Envoy that answers only when it is told to. */
interface SlowEnvoy extends AsyncDisposable {
  readonly port: number;
  /** The path, without query, of each request that waits for its answer. */
  waiting(): readonly string[];
  /** Answers all that wait. */
  answer(): void;
}

function startSlowEnvoy(): SlowEnvoy {
  const held: { readonly path: string; readonly answer: () => void }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch({ url }) {
      const path = new URL(url).pathname;
      await new Promise<void>((answer) => held.push({ path, answer }));
      return new Response(bodies[path] ?? "{}");
    },
  });
  return {
    port: server.port as number,
    waiting: () => held.map(({ path }) => path),
    answer() {
      for (const { answer } of held.splice(0)) answer();
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

interface Draining {
  readonly said: readonly { readonly msg: string }[];
  readonly done: Promise<boolean>;
}

function drain({ port }: SlowEnvoy, drainMs: number, isNative = false): Draining {
  const said: { msg: string }[] = [];
  const add = (fields: object, msg: string) => said.push({ ...fields, msg });
  const log = { debug: () => undefined, info: add, warn: add, error: add } as unknown as Log;
  const admin = parseHttpTarget(`http://127.0.0.1:${port}`) as HttpTarget;
  const sidecar: Sidecar = {
    ...{ name: "envoy", isNative, ready: [], quits: [], processes: [] },
    envoy: { admin, drainPath: "/drain_listeners" },
  };
  const { signal } = new AbortController();
  const limits = { drainMs, boundMs: drainMs, minMs: 1, maxInFlight: 0, wereReady: true };
  return { said, done: drainAll([sidecar], { ...limits, log, signal }) };
}

/** Resolves once all these paths wait for their answers, after `ms` then answers them. */
async function answerAfter(ms: number, { clock, envoy }: Ends, paths: readonly string[]): Promise<void> {
  // ebb also looks each second whether Envoy is still there
  const asked = () => envoy.waiting().filter((path) => paths.includes(path));
  await clock.until(`${paths}`, () => asked().length >= paths.length);
  clock.pass(ms);
  envoy.answer();
}

interface Ends {
  readonly clock: FakeClock;
  readonly envoy: SlowEnvoy;
}

const directions = ["/config_dump", "/config_dump", "/listeners"];

const limits = test.each([
  [15_000, 2000],
  [60_000, 6000],
  [600_000, 10_000],
]);

limits("of a drain of %d ms, Envoy has %d ms for an answer", async (drainMs, limitMs) => {
  await using envoy = startSlowEnvoy();
  using clock = stopClock();
  const { said, done } = drain(envoy, drainMs);
  await answerAfter(limitMs - 1, { clock, envoy }, ["/healthcheck/fail", ...directions]);
  await answerAfter(limitMs - 1, { clock, envoy }, ["/drain_listeners"]);
  await answerAfter(limitMs - 1, { clock, envoy }, ["/stats"]);
  expect(await done).toBe(true);
  expect(said).toMatchObject([
    { msg: "made Envoy's health checks fail: it still accepts connections" },
    { msg: "draining the listeners", request: expect.stringContaining("inboundonly") },
    { msg: "counting the work in flight" },
    { msg: "in flight" },
    { msg: "drain ended", outcome: "drained" },
  ]);
});

limits("of a drain of %d ms, ebb goes on after %d ms without an answer", async (drainMs, limitMs) => {
  await using envoy = startSlowEnvoy();
  using clock = stopClock();
  const { said, done } = drain(envoy, drainMs);
  await answerAfter(limitMs, { clock, envoy }, ["/healthcheck/fail", ...directions]);
  await answerAfter(limitMs, { clock, envoy }, ["/drain_listeners"]);
  await answerAfter(0, { clock, envoy }, ["/stats"]);
  expect(await done).toBe(true);
  const reason = "no answer in time: it may still do it";
  expect(said.slice(0, 2)).toMatchObject([
    { reason, msg: "cannot make Envoy's health checks fail" },
    { reason, msg: "cannot drain the listeners", request: expect.not.stringContaining("inboundonly") },
  ]);
});

limits("of a drain of %d ms beside a native sidecar, half of %d ms is for the directions", async (drainMs, limitMs) => {
  await using envoy = startSlowEnvoy();
  using clock = stopClock();
  const { said, done } = drain(envoy, drainMs, true);
  await answerAfter(limitMs / 2 - 1, { clock, envoy }, directions);
  for (const path of ["/drain_listeners", "/healthcheck/fail", "/stats"])
    await answerAfter(0, { clock, envoy }, [path]);
  clock.pass(1);
  expect(await done).toBe(true);
  expect(said[0]).toMatchObject({
    msg: "draining the listeners",
    request: expect.stringContaining("inboundonly"),
  });
});
