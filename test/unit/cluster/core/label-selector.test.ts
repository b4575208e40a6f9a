import { expect, test } from "bun:test";
import { labelSelector } from "../../../../src/cluster/core/label-selector.ts";

test.each([
  "app=shop",
  "app==shop",
  "app = shop",
  "app!=shop",
  "app=",
  "team in (a, b)",
  "team notin (a)",
  "team",
  "!team",
  "inside",
  "app.kubernetes.io/name=x_y.z",
  "a=1,b in (x,y),!c,d",
])("%s is a selector", (text) => {
  expect(labelSelector.parse(text)).toBe(text);
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
