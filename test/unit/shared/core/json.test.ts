import { expect, test } from "bun:test";
import { copyOf, withValuesAt } from "../../../../src/shared/core/json.ts";

test("values are put at several paths, and what was given stays as it was", () => {
  const before = { kind: "List", items: [{ a: 1 }, { b: [{ c: 2 }, 3] }, 4], "a.b": 5 };
  const copy = structuredClone(before);
  const after = withValuesAt(before, [
    [["items", 0], { z: 0 }],
    [["items", 1, "b", 1], "three"],
    [["items", 1, "b", 0, "c"], { d: 2 }],
  ]);
  expect(after).toEqual({ kind: "List", items: [{ z: 0 }, { b: [{ c: { d: 2 } }, "three"] }, 4], "a.b": 5 });
  expect(before).toEqual(copy);
});

test("without a path it is another value", () => {
  expect(withValuesAt({ a: 1 }, [[[], "all"]])).toBe("all");
  expect(withValuesAt([1, 2], [])).toEqual([1, 2]);
});

test("__proto__ is a field as any other", () => {
  const value = JSON.parse('{"__proto__": {"a": 1}, "b": 2}');
  expect(JSON.stringify(withValuesAt(value, [[["__proto__", "a"], 3]]))).toBe('{"__proto__":{"a":3},"b":2}');
});

test("a copy shares nothing, not even what stands in it twice, as by an alias of YAML", () => {
  const shared = { a: [1] };
  const value = { one: shared, two: shared, rest: [null, Number.NaN, -0, Infinity, "x"] };
  const copy = copyOf(value);
  expect(copy).toStrictEqual(value);
  copy.one.a.push(2);
  expect([copy.two.a, shared.a]).toEqual([[1], [1]]);
  expect(JSON.stringify(copyOf(JSON.parse('{"__proto__":{"b":1}}')))).toBe('{"__proto__":{"b":1}}');
});
