import { expect, test } from "bun:test";
import { isSame } from "../../../../src/cluster/core/same.ts";

test.each<[string, unknown, unknown, boolean]>([
  ["equal values", { a: [1, "x", null] }, { a: [1, "x", null] }, true],
  ["fields in another order", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ["one field more", { a: 1 }, { a: 1, b: undefined }, false],
  ["one field less", { a: 1, b: undefined }, { a: 1 }, false],
  ["another field", { a: undefined }, { b: undefined }, false],
  ["named things in another order", [{ name: "a", x: 1 }, { name: "b" }], [{ name: "b" }, { name: "a", x: 1 }], true],
  ["named things that differ", [{ name: "a", x: 1 }, { name: "b" }], [{ name: "b" }, { name: "a", x: 2 }], false],
  ["mounts of one volume in another order", mounts("/a", "/b"), mounts("/b", "/a"), true],
  ["mounts elsewhere", mounts("/a", "/b"), mounts("/a", "/c"), false],
  ["words in another order", ["a", "b"], ["b", "a"], false],
  ["doubles in another order", [{ name: "a", x: 1 }, { name: "a" }], [{ name: "a" }, { name: "a", x: 1 }], false],
  ["a double in one of them", [{ name: "a" }, { name: "a" }], [{ name: "a" }, { name: "b" }], false],
  ["things without a name in another order", [{ x: 1 }, { x: 2 }], [{ x: 2 }, { x: 1 }], false],
  ["a list that is longer", ["a"], ["a", "b"], false],
  ["a list and an object", [], {}, false],
  ["what is no number", { a: Number.NaN }, { a: Number.NaN }, true],
  ["zero and minus zero", 0, -0, true],
  ["nothing and null", undefined, null, false],
])("%s", (_, a, b, same) => {
  expect([isSame(a, b), isSame(b, a)]).toEqual([same, same]);
});

function mounts(...paths: readonly string[]): readonly object[] {
  return paths.map((mountPath) => ({ name: "data", mountPath }));
}
