import { expect, test } from "bun:test";
import fc from "fast-check";
import { meansKinds } from "../../../src/core/reap/means.ts";
import type { ReaperMemory } from "../../../src/core/reap/pod-rules.ts";
import type { ReapPolicy } from "../../../src/core/reap/policy.ts";
import { trimPod } from "../../../src/core/reap/trimmed-pod.ts";
import { type Verdict, verdictOf } from "../../../src/core/reap/verdict.ts";
import { ago, type Containers, ended, type Json, known, now, ofJob, podOf, running, waiting } from "./stuck-pods.ts";

const exitCode = fc.constantFrom(0, 1, 42, 137);
const seconds = fc.constantFrom(-100, -1, 0, 3, 5, 60);

const state: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(running) },
  { weight: 6, arbitrary: fc.tuple(exitCode, seconds).map(([code, at]) => ended(code, at)) },
  { weight: 1, arbitrary: fc.constantFrom(waiting("CrashLoopBackOff"), {}, { terminated: {} }, { terminated: null }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("RestartingAllContainers", "ContainerStatusUnknown").map((why) => ended(137, 60, why)),
  },
);

const rules = fc.array(
  fc.record({
    action: fc.constantFrom("Restart", "RestartAllContainers"),
    exitCodes: fc.record({ operator: fc.constantFrom("In", "NotIn"), values: fc.subarray([0, 1, 42, 137]) }),
  }),
  { maxLength: 2 },
);

const restarts: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record({ restartPolicy: fc.constantFrom("Always", "OnFailure", "Never"), restartPolicyRules: rules }),
  },
);

const container = fc.record({ state, spec: restarts });
const name = fc.constantFrom("app", "other", "third", "istio-proxy", "daprd", "linkerd-proxy", "envoy");

/** Mostly as in a pod that is stuck. */
function mostly<T>(usual: T, ...others: readonly fc.Arbitrary<NoInfer<T>>[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9 * others.length, arbitrary: fc.constant(usual) }, ...others);
}

const stuck = fc.tuple(exitCode, seconds, fc.boolean(), fc.boolean()).map(
  ([code, at, hasSecond, hasDapr]): Containers => ({
    app: ended(code, at),
    "istio-proxy": running,
    ...(hasSecond ? { other: ended(0) } : {}),
    ...(hasDapr ? { daprd: running } : {}),
  }),
);

/** A pod with anything that matters, most of them stuck but for one thing or two. */
const pod = fc
  .record({
    containers: fc.oneof(
      { weight: 3, arbitrary: stuck },
      { weight: 3, arbitrary: fc.tuple(stuck, name, container).map(([all, name, one]) => ({ ...all, [name]: one })) },
      { weight: 1, arbitrary: fc.dictionary(name, container, { minKeys: 1, maxKeys: 4 }) },
    ),
    initContainers: mostly({}, fc.dictionary(fc.constantFrom("init", "kuma-sidecar"), container, { maxKeys: 1 })),
    ephemeralContainers: mostly({}, fc.dictionary(fc.constantFrom("debugger", "ebb-reaper-1"), container)),
    annotations: mostly<Json>(
      {},
      fc.record({ "ebb.dev/sidecars": fc.constantFrom("other", "app,daprd") }),
      fc.record({ "ebb.dev/containers": fc.constantFrom("envoy", "app", "istio-proxy") }),
      fc.record({
        "ebb.dev/sidecars": fc.constant("other"),
        "ebb.dev/reap-exec.other": fc.constantFrom("/stop", "[]"),
      }),
      fc.record({ "sidecar.istio.io/status": fc.constantFrom('{"containers":["third"]}', "{}") }),
      fc.record({ "ebb.dev/reap": fc.constantFrom("no", "ture", "false") }),
    ),
    restartPolicy: fc.constantFrom("Never", "Never", "OnFailure", "OnFailure", "OnFailure", "Always", undefined),
    phase: mostly("Running", fc.constantFrom("Pending", "Succeeded", "Failed", "Unknown")),
    metadata: mostly({}, fc.constantFrom<Json>(ofJob, { deletionTimestamp: ago(1) })),
  })
  .map(({ restartPolicy, phase, ...more }) => podOf({ ...more, spec: { restartPolicy }, status: { phase } }));

const policy: fc.Arbitrary<ReapPolicy> = fc.record({
  afterMs: fc.constantFrom(0, 5000, 90_000),
  allJobs: fc.boolean(),
  allowsReapExec: fc.boolean(),
  means: fc.subarray([...meansKinds], { minLength: 1 }),
  namespaces: fc.constantFrom(new Map(), new Map([["shop", "true"]])),
});

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

/** Of any pod, policy and moment. */
function always(holds: (pod: Json, policy: ReapPolicy, known: ReaperMemory) => void): void {
  const knows = fc.record({
    now: fc.constantFrom(now, now + 200_000),
    handled: fc.constant(new Map()),
    seen: fc.constantFrom(new Map<string, number>(), new Map([["uid-1", now - 2000]])),
  });
  fc.assert(fc.property(pod, policy, knows, holds), { numRuns: 1000 });
}

test("the generated pods come to every kind of verdict, often enough", () => {
  const kinds = fc.sample(fc.tuple(pod, policy), 2000).map(([pod, policy]) => verdictOf(pod, policy, known).kind);
  for (const kind of ["leave", "later", "end"] as const) {
    expect(kinds.filter((each) => each === kind).length).toBeGreaterThan(40);
  }
});

test("whatever is not ended has ended for good: nothing that runs or comes back loses its sidecars", () => {
  always((pod, policy, known) => {
    const verdict = verdictOf(pod, policy, known);
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
    const ending = endingsOf(verdictOf(pod, policy, known));
    if (ending.length === 0) return;
    const others = specs(pod).filter(({ name }) => !ending.includes(name));
    expect(others.every(({ name }) => stateOf(pod, name).terminated !== undefined)).toBe(true);
    expect(others.length).toBeGreaterThan(0);
    expect((pod.status as Json).phase).toBe("Running");
    expect((pod.metadata as Json).deletionTimestamp).toBeUndefined();
  });
});

test("native sidecars, init containers and those of people who debug are never ended", () => {
  always((pod, policy, known) => {
    const verdict = verdictOf(pod, policy, known);
    const theirs = [...specs(pod, "initContainers"), ...specs(pod, "ephemeralContainers")].map(({ name }) => name);
    for (const name of endingsOf(verdict)) expect(theirs).not.toContain(name);
    if (verdict.kind !== "end") return;
    for (const { name } of specs(pod, "ephemeralContainers")) {
      expect(stateOf(pod, name, "ephemeralContainerStatuses").running).toBeUndefined();
    }
  });
});

test("who says no is left, whoever else says yes", () => {
  const no = fc.constantFrom("label", "annotation", "namespace");
  const word = fc.constantFrom("false", "False", "0");
  fc.assert(
    fc.property(pod, policy, no, word, (pod, policy, where, word) => {
      const metadata = { ...(pod.metadata as Json) };
      const said = { "ebb.dev/reap": word };
      if (where === "label") metadata.labels = said;
      if (where === "annotation") metadata.annotations = { ...(metadata.annotations as Json), ...said };
      const namespaces = where === "namespace" ? new Map([["shop", word]]) : policy.namespaces;
      const verdict = verdictOf({ ...pod, metadata }, { ...policy, namespaces }, known);
      expect([verdict.kind, verdict.rule]).toEqual(["leave", "opted-out"]);
    }),
  );
});

test("time alone only brings a pod nearer to its end, which comes when it was said to come", () => {
  always((pod, policy, known) => {
    const verdict = verdictOf(pod, policy, known);
    const after = (ms: number) => verdictOf(pod, policy, { ...known, now: known.now + ms });
    if (verdict.kind !== "later") {
      for (const ms of [1, 5000, 1e9]) expect(after(ms)).toEqual(verdict);
      return;
    }
    expect(verdict.at).toBeGreaterThan(known.now);
    const seen = new Map([["uid-1", known.seen.get("uid-1") ?? known.now]]);
    expect(verdictOf(pod, policy, { ...known, seen, now: verdict.at - 1 }).kind).toBe("later");
    expect(verdictOf(pod, policy, { ...known, seen, now: verdict.at }).kind).toBe("end");
  });
});

test("a longer --after ends nothing that a shorter one leaves", () => {
  always((pod, policy, known) => {
    const longer = verdictOf(pod, { ...policy, afterMs: policy.afterMs + 1000 }, known);
    if (longer.kind === "end") expect(verdictOf(pod, policy, known)).toEqual(longer);
  });
});

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
    expect(verdictOf(turned(pod), policy, known)).toEqual(verdictOf(pod, policy, known));
  });
});

test("each reason is a sentence of one line, and each ending has a means that is allowed", () => {
  always((pod, policy, known) => {
    const verdict = verdictOf(pod, policy, known);
    expect(verdict.reason).toMatch(/^\S[^\n]*\S$/);
    expect(verdict.reason).not.toMatch(/undefined|\[object/);
    if (verdict.kind !== "end") return;
    for (const { means } of verdict.containers) {
      expect(means.length).toBeGreaterThan(0);
      for (const { kind } of means) expect(policy.means).toContain(kind);
    }
  });
});

test("nothing is thrown, and nothing ended, whatever JSON it is", () => {
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
      expect(verdictOf(pod, policy, known).kind).toBe("leave");
    }),
    { numRuns: 1000 },
  );
});

test("a pod of which any part is something else throws nothing", () => {
  const odd = fc.oneof(fc.constantFrom(null, 7, "x", [], {}, [null], [7], true), fc.jsonValue());
  fc.assert(
    fc.property(pod, policy, odd, fc.array(fc.nat(9), { maxLength: 5 }), (pod, policy, odd, path) => {
      const verdict = verdictOf(broken(pod, path, odd), policy, known);
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

test("what a watch keeps of a pod leads to the same verdict as all of it", () => {
  always((pod, policy, known) => {
    expect(verdictOf(trimPod(pod), policy, known)).toEqual(verdictOf(pod, policy, known));
  });
});
