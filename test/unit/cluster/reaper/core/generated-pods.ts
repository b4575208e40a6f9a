import fc from "fast-check";
import type { Pod } from "../../../../../src/cluster/api/core/objects.ts";
import { methodKinds } from "../../../../../src/cluster/reaper/core/methods.ts";
import type { ReaperMemory } from "../../../../../src/cluster/reaper/core/pod-rules.ts";
import type { ReapPolicy } from "../../../../../src/cluster/reaper/core/policy.ts";
import { ago, type Containers, ended, type Json, now, ofJob, podOf, running, waiting } from "./stuck-pods.ts";

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

/** Generates the usual value, as in a pod that is stuck, nine times in ten; otherwise one of the others. */
function mostly<T>(usual: T, ...others: readonly fc.Arbitrary<NoInfer<T>>[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9 * others.length, arbitrary: fc.constant(usual) }, ...others);
}

/** Generates the containers of a pod that is stuck: an app that has ended, and a sidecar that runs. */
const stuck = fc.tuple(exitCode, seconds, fc.boolean(), fc.boolean()).map(
  ([code, at, hasSecond, hasDapr]): Containers => ({
    app: ended(code, at),
    "istio-proxy": running,
    ...(hasSecond ? { other: ended(0) } : {}),
    ...(hasDapr ? { daprd: running } : {}),
  }),
);

/** Generates pods with anything that matters; most are stuck but for one thing or two. */
export const pod = fc
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
      fc.record({ "ebb.dev/apps": fc.constantFrom("envoy", "app", "istio-proxy") }),
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

export const policy: fc.Arbitrary<ReapPolicy> = fc.record({
  afterMs: fc.constantFrom(0, 5000, 90_000),
  allJobs: fc.boolean(),
  allowsReapExec: fc.boolean(),
  methods: fc.subarray([...methodKinds], { minLength: 1 }),
  namespaces: fc.constantFrom(new Map(), new Map([["shop", "true"]])),
});

/** Checks a property for 1,000 pods, policies and moments: `holds` throws if it does not hold. */
export function always(holds: (pod: Pod & Json, policy: ReapPolicy, known: ReaperMemory) => void): void {
  const knows = fc.record({
    now: fc.constantFrom(now, now + 200_000),
    seenAt: fc.constantFrom(undefined, now - 2000),
  });
  fc.assert(fc.property(pod, policy, knows, holds), { numRuns: 1000 });
}
