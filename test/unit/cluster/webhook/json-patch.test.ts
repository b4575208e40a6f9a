import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { applyPatch } from "rfc6902";
import { patchBetween } from "../../../../src/cluster/webhook/json-patch.ts";

type Json = fc.JsonValue;

describe("the patch between two documents", () => {
  test.each<[string, Json, Json, readonly object[]]>([
    ["of equal ones is empty", { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ["adds a field", { a: 1 }, { a: 1, b: [2] }, [{ op: "add", path: "/b", value: [2] }]],
    ["puts an item before others", { l: [2, 3] }, { l: [1, 2, 3] }, [{ op: "add", path: "/l/0", value: 1 }]],
    ["puts an item after others", { l: [1] }, { l: [1, 2] }, [{ op: "add", path: "/l/1", value: 2 }]],
    [
      "puts words before others",
      ["a", "b"],
      ["x", "y", "a", "b"],
      [
        { op: "add", path: "/0", value: "x" },
        { op: "add", path: "/1", value: "y" },
      ],
    ],
    [
      "removes items from the end of what differs",
      [1, 2, 3, 4],
      [1, 4],
      [
        { op: "remove", path: "/2" },
        { op: "remove", path: "/1" },
      ],
    ],
    [
      "changes an item in its place",
      { l: [{ n: "a" }, { n: "b", v: 1 }] },
      { l: [{ n: "a" }, { n: "b", v: 2 }] },
      [{ op: "replace", path: "/l/1/v", value: 2 }],
    ],
    ["escapes names", { "a/b": 1, "m~n": 2 }, { "a/b": 0, "m~n": 2 }, [{ op: "replace", path: "/a~1b", value: 0 }]],
  ])("%s", (_, before, after, operations) => {
    expect(patchBetween(before, after)).toEqual(operations as never);
  });

  test("makes the one of the other, whatever they are", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        if (JSON.stringify([before, after]).includes('"__proto__"')) return; // rfc6902 applies no such patch
        const document = { value: structuredClone(before) };
        const results = applyPatch(document, patchBetween(document, { value: after }));
        expect(results.every((result) => result === null)).toBe(true);
        expect(document).toEqual({ value: after });
      }),
    );
  });

  test("keeps out whatever is alike beside what differs", () => {
    const item = fc.record({ name: fc.string(), id: fc.constant("ALIKE") });
    fc.assert(
      fc.property(fc.array(item), fc.array(fc.string()), fc.string(), (items, first, field) => {
        const before = { list: items };
        const after = { list: [...first, ...items.map((each) => ({ ...each, more: field }))] };
        if (first.length > 0 && items.length > 0) return; // shifted, and changed: then they are taken one by one
        expect(JSON.stringify(patchBetween(before, after))).not.toContain("ALIKE");
      }),
    );
  });

  test("of lists of 100,000 items is a matter of moments", () => {
    const before = Array.from({ length: 100_000 }, (_, at) => ({ name: `c${at}`, command: ["/app"] }));
    const after = before.map((each) => ({ ...each, command: ["/ebb", ...each.command] }));
    expect(patchBetween(before, after)).toHaveLength(100_000);
  });
});
