import { expect, test } from "bun:test";
import fc from "fast-check";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import { verdictOf } from "../../../../../src/cluster/reaper/core/verdict.ts";
import { always, pod, policy } from "./generated-pods.ts";
import { type Json, known } from "./stuck-pods.ts";

test("the order of containers, statuses and annotations counts for nothing", () => {
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned).reverse();
    if (typeof value !== "object" || value === null) return value;
    // but not of a container's rules, of which the first that matches counts
    const inner = ([key, each]: [string, unknown]) =>
      [key, key === "restartPolicyRules" ? each : turned(each)] as const;
    return Object.fromEntries(Object.entries(value).map(inner).reverse());
  };
  always((pod, policy, known) => {
    expect(verdictOf(viewOf(turned(pod)), policy, known)).toEqual(verdictOf(viewOf(pod), policy, known));
  });
});

test("each reason is a sentence of one line, and each ending has a means that is allowed", () => {
  always((pod, policy, known) => {
    const verdict = verdictOf(viewOf(pod), policy, known);
    expect(verdict.reason).toMatch(/^\S[^\n]*\S$/);
    expect(verdict.reason).not.toMatch(/undefined|\[object/);
    if (verdict.kind !== "end") return;
    for (const { methods } of verdict.containers) {
      expect(methods.length).toBeGreaterThan(0);
      for (const { kind } of methods) expect(policy.methods).toContain(kind);
    }
  });
});

test("a verdict about any JSON throws nothing, and ends nothing", () => {
  const parts = fc.constantFrom(
    "metadata",
    "spec",
    "status",
    "containers",
    "state",
    "name",
    "terminated",
    "annotations",
  );
  const json = fc.object({ key: fc.oneof(parts, fc.string()), maxDepth: 5, values: [fc.anything({ maxDepth: 0 })] });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), json), policy, (pod, policy) => {
      expect(verdictOf(viewOf(pod), policy, known).kind).toBe("leave");
    }),
    { numRuns: 1000 },
  );
});

test("a pod of which any part is something else throws nothing", () => {
  const odd = fc.oneof(fc.constantFrom(null, 7, "x", [], {}, [null], [7], true), fc.jsonValue());
  fc.assert(
    fc.property(pod, policy, odd, fc.array(fc.nat(9), { maxLength: 5 }), (pod, policy, odd, path) => {
      const verdict = verdictOf(viewOf(broken(pod, path, odd)), policy, known);
      expect(["leave", "later", "end"]).toContain(verdict.kind);
    }),
    { numRuns: 1000 },
  );
});

/** The same with something else in one place. */
function broken(value: unknown, [first, ...rest]: readonly number[], odd: unknown): unknown {
  if (first === undefined || typeof value !== "object" || value === null) return odd;
  const keys = Object.keys(value);
  const key = keys[first % keys.length];
  if (key === undefined) return odd;
  if (Array.isArray(value)) return value.with(Number(key), broken(value[Number(key)], rest, odd));
  return { ...value, [key]: broken((value as Json)[key], rest, odd) };
}
