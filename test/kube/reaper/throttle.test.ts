import { expect, test } from "bun:test";
import { ApiError } from "../../../src/kube/api/api-error.ts";
import { createGate, throttleClient } from "../../../src/kube/reaper/throttle.ts";
import { until } from "../../harness.ts";
import { never } from "../../time.ts";
import { collectLog } from "../collect-log.ts";
import { createFakeApi } from "../fake-api.ts";

const fast = { perSecond: 1e6, burst: 1e6 };
const restless = { failures: 3, rest: { firstMs: 100, longestMs: 100 } };
const LONG_MS = 30_000;

function fails(status: number | undefined): () => never {
  return () => {
    throw new ApiError("broken", { status, reason: "X", retryAfterMs: undefined });
  };
}

test("a burst passes at once, the rest by the rate, in the order in which they came", async () => {
  const gate = createGate({ perSecond: 20, burst: 5 }, collectLog());
  const order: number[] = [];
  const start = performance.now();
  const passing = Array.from({ length: 9 }, async (_, at) => {
    await gate.turn();
    order.push(at);
  });
  await Promise.all(passing);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(performance.now() - start).toBeGreaterThan(180);
});

test("who gives up gives its turn back", async () => {
  const gate = createGate({ perSecond: 20, burst: 1 }, collectLog());
  await gate.turn();
  const stop = AbortSignal.timeout(1);
  const given = await Promise.allSettled(Array.from({ length: 1000 }, () => gate.turn(stop)));
  expect(given.filter(({ status }) => status === "rejected").length).toBeGreaterThan(990);
  const start = performance.now();
  await gate.turn();
  expect(performance.now() - start).toBeLessThan(20_000); // of 50 s
});

test.each([
  [undefined, true],
  [500, true],
  [503, true],
  [429, true],
  [403, false],
  [404, false],
  [409, false],
])("after some answers of %p in a row: is the API server let alone? %p", async (status, isOpen) => {
  const log = collectLog();
  const gate = createGate(fast, log, { failures: 3, rest: { firstMs: 3_600_000, longestMs: 3_600_000 } });
  const fake = createFakeApi();
  const codes: string[] = [];
  const api = throttleClient(fake, gate, (verb, code) => codes.push(`${verb} ${code}`));
  fake.get = fails(status);
  for (let count = 0; count < 3; count += 1) await expect(api.get("/x")).rejects.toThrow("broken");
  expect(gate.isOpen).toBe(isOpen);
  expect(codes).toEqual(Array.from({ length: 3 }, () => `get ${status ?? "X"}`));
  expect(log.lines.map(({ level }) => level)).toEqual(isOpen ? ["warn"] : []);
  if (!isOpen) return;
  const stop = AbortSignal.timeout(50);
  await expect(api.get("/x", { signal: stop })).rejects.toThrow();
  expect(codes).toHaveLength(3); // it was not asked
});

test("while it is unwell one asks at a time; its success lets all others pass, and each side is logged once", async () => {
  const log = collectLog();
  const gate = createGate(fast, log, restless);
  const fake = createFakeApi();
  const api = throttleClient(fake, gate);
  let asked = 0;
  const isAsked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  fake.get = fails(503);
  for (let count = 0; count < 3; count += 1) await api.get("/x").catch(() => undefined);
  fake.get = async <T>() => {
    asked += 1;
    isAsked.resolve();
    await answer.promise;
    return {} as T;
  };
  const waiting = Array.from({ length: 10 }, () => api.get("/x"));
  await isAsked.promise;
  await never("another asks", () => asked > 1, 300);
  answer.resolve();
  await Promise.all(waiting);
  expect({ asked, isOpen: gate.isOpen }).toEqual({ asked: 10, isOpen: false });
  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "warn the API server fails: pausing requests",
    "info the API server answers again: continuing",
  ]);
});

test("one that tries and is given up holds nobody up", async () => {
  const gate = createGate(fast, collectLog(), restless);
  const fake = createFakeApi();
  const api = throttleClient(fake, gate);
  fake.get = fails(503);
  for (let count = 0; count < 3; count += 1) await api.get("/x").catch(() => undefined);
  const stop = new AbortController();
  let isAsked = false;
  fake.get = (_, asking) => {
    isAsked = true;
    return new Promise((_, reject) => asking?.signal?.addEventListener("abort", () => reject(asking.signal?.reason)));
  };
  const given = api.get("/x", { signal: stop.signal });
  await until("it tries", () => isAsked, LONG_MS);
  fake.get = async <T>() => ({}) as T;
  stop.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  await api.get("/x");
  expect(gate.isOpen).toBe(false);
});

test("a failure is not asked again here: that is for those who ask", async () => {
  const fake = createFakeApi();
  const retries: (number | undefined)[] = [];
  fake.get = (_, asking) => {
    retries.push(asking?.retries);
    return fails(500)();
  };
  await throttleClient(fake, createGate(fast, collectLog()))
    .get("/x")
    .catch(() => undefined);
  expect(retries).toEqual([0]);
});
