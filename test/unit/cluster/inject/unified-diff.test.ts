import { expect, test } from "bun:test";
import { applyPatch } from "diff";
import fc from "fast-check";
import { unifiedDiff } from "../../../../src/cluster/inject/unified-diff.ts";
import { applySplices, type Splice } from "../../../../src/cluster/inject/yaml/splice.ts";

test("lines that are added and changed, with three lines around them", () => {
  const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const splices = [
    { from: 8, to: 8, text: "new\n" },
    { from: 16, to: 17, text: "x" },
  ];
  expect(unifiedDiff("a.yaml", text, splices)).toBe(
    [
      "--- a/a.yaml",
      "+++ b/a.yaml",
      "@@ -2,8 +2,9 @@",
      " 2",
      " 3",
      " 4",
      "+new",
      " 5",
      " 6",
      " 7",
      " 8",
      "-9",
      "+x",
      "",
    ].join("\n"),
  );
});

test("nothing that changes is no diff", () => {
  expect(unifiedDiff("x", "a\n", [])).toBe("");
  expect(unifiedDiff("x", "a\n", [{ from: 0, to: 1, text: "a" }])).toBe("");
});

test("a patch makes of the text what the changes make of it", () => {
  const text = fc.array(fc.constantFrom("a", "b", "\n", "\n"), { maxLength: 60 }).map((parts) => parts.join(""));
  const property = fc.property(
    text,
    fc.array(fc.tuple(fc.nat(60), fc.nat(5), fc.constantFrom("", "x", "y\n", "\nz", "b\n"))),
    (text, wishes) => {
      const splices: Splice[] = [];
      let at = 0;
      for (const [gap, length, piece] of wishes) {
        const from = Math.min(text.length, at + gap);
        at = Math.min(text.length, from + length);
        splices.push({ from, to: at, text: piece });
      }
      const changed = applySplices(text, splices);
      const diff = unifiedDiff("x", text, splices);
      expect(diff === "" ? text : applyPatch(text, diff)).toBe(changed);
    },
  );
  // a line whose break goes, and then all of the next one
  const joined: [string, [number, number, string][]] = [
    "aaaaa\na\n\n",
    [
      [2, 4, ""],
      [0, 2, ""],
      [1, 0, "x"],
    ],
  ];
  fc.assert(property, { numRuns: 500, examples: [joined] });
});

test("ten thousand changes take no longer than their lines, as those of a List of many workloads", () => {
  const text = "same\n".repeat(100_000);
  const splices = Array.from({ length: 10_000 }, (_, at) => ({ from: at * 50, to: at * 50, text: "new\n" }));
  expect(unifiedDiff("x", text, splices).match(/^\+new$/gm)).toHaveLength(10_000);
});
