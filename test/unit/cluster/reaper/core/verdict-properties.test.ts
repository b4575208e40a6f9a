import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Pod } from "../../../../../src/cluster/api/core/objects.ts";
import type { ReaperMemory } from "../../../../../src/cluster/reaper/core/pod-rules.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import type { ReapPolicy } from "../../../../../src/cluster/reaper/core/policy.ts";
import { type Verdict, verdictOf } from "../../../../../src/cluster/reaper/core/verdict.ts";
import { always, pod, policy } from "./generated-pods.ts";
import { type Json, known } from "./stuck-pods.ts";

const judge = (pod: Json, policy: ReapPolicy, known: ReaperMemory) =>
  verdictOf(viewOf(pod as Json & Pod), policy, known);

interface Shown {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly {
    action: string;
    exitCodes: { operator: string; values: readonly number[] };
  }[];
}

const specs = (pod: Json, key = "containers") => (pod.spec as Json)[key] as readonly Shown[];

const stateOf = (pod: Json, name: string, key = "containerStatuses") =>
  ((pod.status as Json)[key] as readonly Json[]).find((each) => each.name === name)?.state as Json;

/** What the kubelet does when a container of this pod ends: written anew, as Kubernetes' documentation has it. */
function comesBack(pod: Json, spec: Shown, code: number): boolean {
  if (spec.restartPolicy !== undefined) {
    for (const { exitCodes } of spec.restartPolicyRules ?? []) {
      if (exitCodes.values.includes(code) === (exitCodes.operator === "In")) return true;
    }
  }
  const effective = spec.restartPolicy ?? (pod.spec as Json).restartPolicy ?? "Always";
  return effective === "Always" || (effective === "OnFailure" && code !== 0);
}

const endingsOf = (verdict: Verdict) =>
  verdict.kind === "end" ? verdict.containers.map(({ container }) => container) : [];

test("the generated pods come to every kind of verdict, often enough", () => {
  const kinds = fc.sample(fc.tuple(pod, policy), 2000).map(([pod, policy]) => judge(pod, policy, known).kind);
  for (const kind of ["leave", "later", "end"] as const) {
    expect(kinds.filter((each) => each === kind).length).toBeGreaterThan(40);
  }
});

test("each container that is not ended has ended and will not restart: no app that runs or comes back loses its sidecars", () => {
  always((pod, policy, known) => {
    const verdict = judge(pod, policy, known);
    const ending = endingsOf(verdict);
    if (verdict.kind !== "end") return;
    expect(ending.length).toBeGreaterThan(0);
    for (const spec of specs(pod)) {
      const { terminated, running } = stateOf(pod, spec.name);
      if (ending.includes(spec.name)) expect(running).toBeDefined();
      expect(comesBack(pod, spec, ((terminated as Json | undefined)?.exitCode as number) ?? 0)).toBe(false);
    }
  });
});

test("a pod is ended only where that is all that keeps it: afterwards all its containers have ended, and one was the app", () => {
  always((pod, policy, known) => {
    const ending = endingsOf(judge(pod, policy, known));
    if (ending.length === 0) return;
    const others = specs(pod).filter(({ name }) => !ending.includes(name));
    expect(others.every(({ name }) => stateOf(pod, name).terminated !== undefined)).toBe(true);
    expect(others.length).toBeGreaterThan(0);
    expect((pod.status as Json).phase).toBe("Running");
    expect(pod.metadata.deletionTimestamp).toBeUndefined();
  });
});

test("native sidecars, init containers and those of people who debug are never ended", () => {
  always((pod, policy, known) => {
    const verdict = judge(pod, policy, known);
    const theirs = [...specs(pod, "initContainers"), ...specs(pod, "ephemeralContainers")].map(({ name }) => name);
    for (const name of endingsOf(verdict)) expect(theirs).not.toContain(name);
    if (verdict.kind !== "end") return;
    for (const { name } of specs(pod, "ephemeralContainers")) {
      expect(stateOf(pod, name, "ephemeralContainerStatuses").running).toBeUndefined();
    }
  });
});

test("one label or annotation that says no wins over all that say yes", () => {
  const no = fc.constantFrom("label", "annotation", "namespace");
  const word = fc.constantFrom("false", "False", "0");
  fc.assert(
    fc.property(pod, policy, no, word, (pod, policy, where, word) => {
      const metadata: Json = { ...pod.metadata };
      const said = { "ebb.dev/reap": word };
      if (where === "label") metadata.labels = said;
      if (where === "annotation") metadata.annotations = { ...pod.metadata.annotations, ...said };
      const namespaces = where === "namespace" ? new Map([["shop", word]]) : policy.namespaces;
      const verdict = judge({ ...pod, metadata }, { ...policy, namespaces }, known);
      expect([verdict.kind, verdict.rule]).toEqual(["leave", "opted-out"]);
    }),
  );
});

test("time alone only brings a pod nearer to its end, which comes when it was said to come", () => {
  always((pod, policy, known) => {
    const verdict = judge(pod, policy, known);
    const after = (ms: number) => judge(pod, policy, { ...known, now: known.now + ms });
    if (verdict.kind !== "later") {
      for (const ms of [1, 5000, 1e9]) expect(after(ms)).toEqual(verdict);
      return;
    }
    expect(verdict.at).toBeGreaterThan(known.now);
    const seenAt = known.seenAt ?? known.now;
    expect(judge(pod, policy, { ...known, seenAt, now: verdict.at - 1 }).kind).toBe("later");
    expect(judge(pod, policy, { ...known, seenAt, now: verdict.at }).kind).toBe("end");
  });
});

test("a longer --after ends nothing that a shorter one leaves", () => {
  always((pod, policy, known) => {
    const longer = judge(pod, { ...policy, afterMs: policy.afterMs + 1000 }, known);
    if (longer.kind === "end") expect(judge(pod, policy, known)).toEqual(longer);
  });
});
