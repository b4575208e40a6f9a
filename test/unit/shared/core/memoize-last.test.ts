import { expect, test } from "bun:test";
import { memoizeLast } from "../../../../src/shared/core/memoize-last.ts";

test("the same argument is computed once, another one anew", () => {
  const seen: object[] = [];
  const count = memoizeLast((argument: object) => seen.push(argument));
  const [first, second] = [{ a: 1 }, { a: 1 }];
  expect([count(first), count(first), count(second), count(first)]).toEqual([1, 1, 2, 3]);
});

test("a result that is undefined is remembered too", () => {
  let calls = 0;
  const compute = memoizeLast((_: object): undefined => {
    calls += 1;
    return undefined;
  });
  const argument = {};
  compute(argument);
  compute(argument);
  expect(calls).toBe(1);
});
