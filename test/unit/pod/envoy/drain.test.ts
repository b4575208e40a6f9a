import { expect, test } from "bun:test";
import { drainAll } from "../../../../src/pod/envoy/drain.ts";
import type { HttpTarget } from "../../../../src/shared/core/address.ts";
import type { Log } from "../../../../src/shared/output/log.ts";
import type { Sidecar } from "../../../../src/shared/sidecars/core/sidecar.ts";

test("a bug in ebb ends neither a drain before its time nor the run: the log says it", async () => {
  const said: unknown[] = [];
  const add = (fields: object, msg: string) => said.push({ ...fields, msg });
  const log = { debug: add, info: add, warn: add, error: add } as unknown as Log;
  // no address at all, as no input can have it
  const admin = { path: "/" } as HttpTarget;
  const sidecar: Sidecar = {
    ...{ name: "envoy", isNative: false, ready: [], quits: [], processes: [] },
    envoy: { admin, drainPath: "/drain_listeners" },
  };
  const signal = new AbortController().signal;
  const options = { drainMs: 1000, boundMs: 300, minMs: 50, maxInFlight: 0, wereReady: true, log, signal };
  expect(await drainAll([sidecar], options)).toBe(false);
  expect(said).toContainEqual({
    sidecar: "envoy",
    step: "fail-health",
    what: "a step of the drain failed",
    error: expect.any(String),
    msg: "a bug in ebb: please report it",
  });
  expect(said.at(-1)).toMatchObject({
    outcome: "out of time; what was left could not be counted, and may have been cut off",
    msg: "could not drain the sidecar",
  });
});
