import { afterAll, expect, test } from "bun:test";
import { cases } from "./cases.ts";
import { differences } from "./differences.ts";
import { runEbb } from "./ebb.ts";
import { startPool, way } from "./pool.ts";

const pool = way === undefined ? undefined : startPool(8);
// All are begun now, those that take longest first, and awaited one by one. Half of them have ebb as a file of the tool's name,
// half as `ebb NAME`; npm run conformance has all in both ways.
const order = cases.toSorted((a, b) => Number(b.isSlow ?? false) - Number(a.isSlow ?? false));
const results = new Map(order.map((each, at) => [each.name, pool && runEbb(pool, each, [at % 2 === 0 ? 0 : 1])]));
for (const result of results.values()) result?.catch(() => undefined); // of those that nobody awaits

afterAll(async () => {
  await pool?.[Symbol.asyncDispose]();
});

test.skipIf(pool === undefined).each(cases.map(({ name }) => name))(
  "%s",
  async (name) => {
    expect(await results.get(name)).toEqual([]);
  },
  120_000,
);

test("no two cases have the same name", () => {
  const names = cases.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test.each(
  differences
    .filter((each) => !("isAtRandom" in each || "isOfTime" in each))
    .map(({ id, rivals }) => [id, rivals] as const),
)("the difference %s is shown by a case for each of its tools", (id, rivals) => {
  const shown = cases.flatMap(({ differs = [] }) => differs).filter(({ by }) => [by].flat().includes(id));
  expect(rivals.filter((rival) => !shown.some((each) => each.rivals.includes(rival)))).toEqual([]);
});
