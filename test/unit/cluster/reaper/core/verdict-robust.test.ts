import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Pod } from "../../../../../src/cluster/api/core/objects.ts";
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
    expect(verdictOf(viewOf(turned(pod) as Pod), policy, known)).toEqual(verdictOf(viewOf(pod), policy, known));
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

test("a pod of which any text says something else throws nothing", () => {
  const text = fc.oneof(fc.string(), fc.constantFrom("", "[]", "null", "http://", ":0", "true,"));
  fc.assert(
    fc.property(pod, policy, text, fc.array(fc.nat(9), { maxLength: 6 }), (pod, policy, text, path) => {
      const verdict = verdictOf(viewOf(reworded(pod, path, text) as Pod), policy, known);
      expect(["leave", "later", "end"]).toContain(verdict.kind);
    }),
    { numRuns: 1000 },
  );
});

/** The same with another text in one place. */
function reworded(value: unknown, [first = 0, ...rest]: readonly number[], text: string): unknown {
  if (typeof value === "string") return text;
  const keys = Object.keys(value ?? {});
  const key = keys[first % keys.length];
  if (key === undefined) return value;
  if (Array.isArray(value)) return value.with(Number(key), reworded(value[Number(key)], rest, text));
  return { ...(value as Json), [key]: reworded((value as Json)[key], rest, text) };
}
