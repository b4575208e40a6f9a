import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { createRateLimit, throttleClient } from "../../../../src/cluster/controller/throttle.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { createFakeApi } from "../fake-api.ts";

test("a burst passes at once, the rest by the rate, in the order in which they came", async () => {
  using clock = stopClock();
  const turn = createRateLimit({ perSecond: 20, burst: 5 });
  const order: number[] = [];
  for (let at = 0; at < 9; at++) void turn().then(() => order.push(at));
  await clock.until("the burst", () => order.length === 5);
  for (let passed = 6; passed <= 9; passed++) {
    clock.pass(49);
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toHaveLength(passed - 1);
    clock.pass(1);
    await clock.until("the next", () => order.length === passed);
  }
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test.each([undefined, 500, 429, 403])("a failure, %p, is counted, and not asked again here", async (status) => {
  const fake = createFakeApi();
  const retries: (number | undefined)[] = [];
  fake.get = async (_, asking) => {
    retries.push(asking?.retries);
    throw new ApiError("broken", { status, reason: "X", retryAfterMs: undefined });
  };
  const codes: string[] = [];
  const turn = createRateLimit({ perSecond: 1e6, burst: 1e6 });
  const api = throttleClient(fake, turn, (verb, code) => codes.push(`${verb} ${code}`));
  await expect(api.get("/x")).rejects.toThrow("broken");
  expect({ retries, codes }).toEqual({ retries: [0], codes: [`get ${status ?? "X"}`] });
});

test("a stream that is refused is counted once as connect, with its error", async () => {
  const fake = createFakeApi();
  const refusal = new ApiError("no", { status: 403, reason: "Forbidden", retryAfterMs: undefined });
  fake.stream = async () => {
    throw refusal;
  };
  const told: unknown[] = [];
  const api = throttleClient(
    fake,
    async () => undefined,
    (...answer) => told.push(answer),
  );
  await expect(api.stream("/x/exec", "v5")).rejects.toBe(refusal);
  expect(told).toEqual([["connect", "403", refusal]]);
});
