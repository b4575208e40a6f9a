import { afterAll, expect, test } from "bun:test";
import { cases } from "./cases.ts";
import { runEbb } from "./ebb.ts";
import { startPool, way } from "./pool.ts";

const pool = way === undefined ? undefined : startPool(8);
// all are begun now, those that take longest first, and awaited one by one
const order = cases
  .map((_, index) => index)
  .sort((a, b) => Number(cases[b]?.isSlow ?? false) - Number(cases[a]?.isSlow ?? false));
// half of them as a file of the tool's name, half as `ebb NAME`; npm run conformance has all in both ways
const results = new Map(order.map((index) => [index, pool && runEbb(pool, index, [index % 2 === 0 ? 0 : 1])]));

afterAll(async () => {
  await pool?.[Symbol.asyncDispose]();
});

test.skipIf(pool === undefined).each(cases.map(({ name }, index) => [name, index] as const))(
  "%s",
  async (_, index) => {
    expect(await results.get(index)).toEqual([]);
  },
  120_000,
);

test("no two cases have the same name", () => {
  const names = cases.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
