import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { createRateLimit, throttleClient } from "../../../../src/cluster/controller/throttle.ts";
import { createFakeApi } from "../fake-api.ts";

test("a burst passes at once, the rest by the rate, in the order in which they came", async () => {
  const turn = createRateLimit({ perSecond: 20, burst: 5 });
  const order: number[] = [];
  const start = performance.now();
  const passing = Array.from({ length: 9 }, async (_, at) => {
    await turn();
    order.push(at);
  });
  await Promise.all(passing);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(performance.now() - start).toBeGreaterThan(180);
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
