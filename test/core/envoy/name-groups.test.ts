import { expect, test } from "bun:test";
import fc from "fast-check";
import { groupNames } from "../../../src/core/envoy/name-groups.ts";

function matching(pattern: string, names: readonly string[]): readonly string[] {
  const whole = new RegExp(`^(?:${pattern})$`, "s");
  return names.filter((name) => whole.test(name));
}

const addresses = Array.from({ length: 2000 }, (_, at) => `10.96.${Math.floor(at / 250)}.${(at % 250) + 1}_80`);
const services = addresses.map(
  (_, at) => `outbound|80||a-service-with-quite-a-long-name-${at}.a-namespace.svc.cluster.local`,
);
const dynamic = fc.array(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 400 });

test.each([
  ["addresses", addresses],
  ["long names", services],
])("%s are asked for in groups of at most 50, by short patterns that match no others", (_, names) => {
  const groups = groupNames(names);
  expect(groups.flatMap((group) => group.names).toSorted()).toEqual(names.toSorted());
  expect(groups.length).toBeLessThan(60);
  for (const { pattern, names: wanted } of groups) {
    expect(wanted.length).toBeLessThanOrEqual(50);
    expect(pattern.length).toBeLessThan(70);
    expect(matching(pattern, wanted)).toEqual(wanted);
  }
  const asked = groups.reduce((sum, { pattern }) => sum + matching(pattern, names).length, 0);
  expect(asked).toBe(names.length);
});

test.each([
  ["few are one group", ["a", "b"], [".*"]],
  ["none are none", [], []],
])("%s", (_, names, patterns) => {
  expect(groupNames(names).map(({ pattern }) => pattern)).toEqual(patterns);
});

test("names that are the beginnings of others have short patterns, too", () => {
  const names = Array.from({ length: 300 }, (_, at) => "a".repeat(at + 1));
  const groups = groupNames(names);
  expect(groups.flatMap((group) => group.names).toSorted()).toEqual(names);
  for (const { pattern } of groups) expect(pattern.length).toBeLessThan(70);
});

test("each name is in one group, whose pattern matches it, whatever the names are", () => {
  fc.assert(
    fc.property(dynamic, fc.string({ maxLength: 60 }), (ends, start) => {
      const names = [...new Set(ends.map((end) => start + end))];
      const groups = groupNames(names);
      expect(groups.flatMap((group) => group.names).toSorted()).toEqual(names.toSorted());
      for (const group of groups) expect(matching(group.pattern, group.names)).toEqual(group.names);
    }),
  );
});
