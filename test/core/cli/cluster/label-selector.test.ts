import { expect, test } from "bun:test";
import { labelSelector } from "../../../../src/core/cli/cluster/label-selector.ts";

test.each([
  ["app=shop", [{ key: "app", operator: "In", values: ["shop"] }]],
  ["app==shop", [{ key: "app", operator: "In", values: ["shop"] }]],
  ["app = shop", [{ key: "app", operator: "In", values: ["shop"] }]],
  ["app!=shop", [{ key: "app", operator: "NotIn", values: ["shop"] }]],
  ["app=", [{ key: "app", operator: "In", values: [""] }]],
  ["team in (a, b)", [{ key: "team", operator: "In", values: ["a", "b"] }]],
  ["team notin (a)", [{ key: "team", operator: "NotIn", values: ["a"] }]],
  ["team", [{ key: "team", operator: "Exists" }]],
  ["!team", [{ key: "team", operator: "DoesNotExist" }]],
  ["inside", [{ key: "inside", operator: "Exists" }]],
  ["app.kubernetes.io/name=x_y.z", [{ key: "app.kubernetes.io/name", operator: "In", values: ["x_y.z"] }]],
  [
    "a=1,b in (x,y),!c,d",
    [
      { key: "a", operator: "In", values: ["1"] },
      { key: "b", operator: "In", values: ["x", "y"] },
      { key: "c", operator: "DoesNotExist" },
      { key: "d", operator: "Exists" },
    ],
  ],
] as const)("%s", (text, requirements) => {
  expect(labelSelector.parse(text)).toEqual([...requirements]);
});

test.each([
  "",
  ",",
  "a=1,",
  "=x",
  "!",
  "a b",
  "a=b c",
  "a in b",
  "a in (b",
  "a in ()x",
  "a in (b) c",
  "-a=1",
  "a-=1",
  "a/b/c=1",
  "/a=1",
  "A.example/a=1",
  "a=-",
  `a=${"x".repeat(64)}`,
  `${"x".repeat(64)}=a`,
  "a>1",
])("%j is no selector", (text) => {
  expect(labelSelector.parse(text)).toBeUndefined();
});
