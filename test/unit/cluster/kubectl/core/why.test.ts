import { expect, test } from "bun:test";
import { rowOf } from "../../../../../src/cluster/kubectl/core/pod-status.ts";
import { reasonLines } from "../../../../../src/cluster/kubectl/core/text.ts";
import { reasonOf } from "../../../../../src/cluster/kubectl/core/why.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import type { ReapPolicy } from "../../../../../src/cluster/reaper/core/policy.ts";
import { reportOfUnselected } from "../../../../../src/cluster/reaper/core/report.ts";
import { type Right, rightsNeeded } from "../../../../../src/cluster/reaper/core/rights.ts";
import { judgementOf } from "../../../../../src/cluster/reaper/core/verdict.ts";
import { ended, now, podOf, running, waiting } from "../../reaper/core/stuck-pods.ts";

const policy: ReapPolicy = {
  afterMs: 5000,
  allJobs: false,
  methods: ["exec", "port-forward"],
  allowsReapExec: false,
  lacksImage: true,
  namespaces: new Map(),
};
const stuck = { app: ended(0), envoy: running };
const why = (pod: Parameters<typeof podOf>[0], missing: readonly Right[] = [], under = policy) => {
  const view = viewOf(podOf(pod));
  return reasonOf(view, judgementOf(view, under, now), missing);
};
const rulesIn = (pod: Parameters<typeof podOf>[0]) => why(pod).holds.map(({ rule }) => rule);

test("a stuck pod has the methods that end it, and what each lacks", () => {
  const all = rightsNeeded({ namespaces: ["shop"], methods: ["port-forward"], onlyLooks: false });
  const missing = all.filter(({ verb, method }) => verb === "create" && method !== undefined);
  const reason = why({ containers: stuck }, missing);
  expect(reason).toMatchObject({ stuck: true, state: "stuck", holds: [] });
  const [forward, ephemeral] = reason.methods;
  expect(forward).toMatchObject({ container: "envoy", kind: "port-forward" });
  expect(forward?.problem).toBe(
    "you may not create pods/portforward in namespace shop; ask an administrator to allow it",
  );
  expect(ephemeral).toMatchObject({ kind: "ephemeral", problem: "needs --image IMAGE" });
});

test.each([
  [{ "ebb.dev/reap": "false" }, new Map(), "opted-out"],
  [{ "ebb.dev/reap": undefined }, new Map(), "not-selected"],
  [{ "ebb.dev/reap": "maybe" }, new Map(), "unreadable-choice"],
  [{}, new Map([["shop", "false"]]), "opted-out"],
])("a pod is as stuck where %j and %p keep the reaper off", (annotations, namespaces, rule) => {
  const reason = why({ containers: stuck, annotations }, [], { ...policy, namespaces });
  expect(reason).toMatchObject({ stuck: true, state: "stuck", holds: [{ rule }] });
});

test("all rules are told, but those that only repeat another", () => {
  const busy = {
    containers: { app: running, envoy: waiting("ContainerCreating") },
    spec: { restartPolicy: "Always" },
  };
  expect(rulesIn(busy)).toEqual(["app-running", "sidecar-waiting", "sidecar-restarts"]);
  expect(rulesIn({ containers: { app: running } })).toEqual(["no-sidecar", "app-running"]);
  const over = { containers: { app: ended(0), envoy: ended(0) }, status: { phase: "Succeeded" } };
  expect(rulesIn(over)).toEqual(["over", "sidecars-ended"]);
  const young = { containers: { app: ended(0, 1), envoy: running } };
  expect(why(young)).toMatchObject({ stuck: true, state: "stuck", holds: [{ rule: "too-early" }] });
  const helper = { containers: { app: ended(0), helper: running }, annotations: { "ebb.dev/sidecars": "helper" } };
  const unknown = why(helper);
  expect(unknown).toMatchObject({ stuck: true, state: "no-method", holds: [{ rule: "no-method" }], methods: [] });
  expect(reasonLines(unknown).slice(-1)).toEqual([
    expect.stringMatching(/^stuck: ebb does not know how to end helper: /),
  ]);
});

test.each([{ "ebb.dev/reap": "true" }, { "ebb.dev/reap": undefined }, { "ebb.dev/reap": "false" }])(
  "why, status and reap --once say the same of a pod that is selected by %p",
  (annotations) => {
    const pod = viewOf(podOf({ containers: stuck, annotations }));
    const judged = judgementOf(pod, policy, now);
    const row = rowOf(pod, judged.state);
    expect(reasonOf(pod, judged, [])).toMatchObject(row);
    expect(reportOfUnselected("nobody asks", judged.state).why).toBe(`stuck: ${row.why}; nobody asks`);
  },
);

test("the text names containers, rules and methods, and escapes what others have written", () => {
  const pod = { containers: { app: ended(3), envoy: running }, annotations: { "ebb.dev/reap": "a\u001b[1m" } };
  const lines = reasonLines(why(pod));
  expect(lines).toEqual([
    "pod shop/p: Running",
    "",
    "CONTAINER  ROLE     SIDECAR  STATE",
    "app        app      -        exit 3 at 2026-03-04T11:59:00.000Z",
    "envoy      sidecar  envoy    running",
    "",
    "stuck: the app has ended and will not restart (app: exit code 3), but envoy still runs",
    "the reaper leaves it, because:",
    String.raw`  unreadable-choice: its annotation ebb.dev/reap: expected true or false, got "a\u001b[1m"`,
    "what ends it (--end does it), in this order:",
    "  POST localhost:9901/quitquitquit through a port-forward",
    "  ephemeral container that shuts down envoy: needs --image IMAGE",
  ]);
  expect(reasonLines({ ...why(pod), end: { result: "ended", why: "x" } }).at(-1)).toBe("ended: x");
});
