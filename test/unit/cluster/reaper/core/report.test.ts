import { describe, expect, test } from "bun:test";
import type { Answer, EndRequest, Outcome, Tried } from "../../../../../src/cluster/reaper/core/attempt.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import {
  eventOfAnswer,
  eventOfOutcome,
  reportOf,
  reportOfUnselected,
  reportOfVerdict,
} from "../../../../../src/cluster/reaper/core/report.ts";
import { formatReapTable, type Row } from "../../../../../src/cluster/reaper/core/table.ts";
import { type Verdict, verdictOf } from "../../../../../src/cluster/reaper/core/verdict.ts";
import { ended, known, podOf, policy, running } from "./stuck-pods.ts";

const forward: EndRequest = {
  container: "proxy",
  patienceMs: 1,
  method: {
    kind: "port-forward",
    container: "proxy",
    requests: [{ port: 9, method: "POST", path: "/q", headers: [["token", "s3cret"]] }],
  },
};
const exec: EndRequest = {
  container: "proxy",
  patienceMs: 1,
  method: { kind: "exec", container: "proxy", command: ["/stop"] },
};
const tried = (request: EndRequest, round: number, why: string): Tried => ({ ...request, round, why });

const outcomes = {
  ended: { kind: "ended", requests: [forward] },
  gone: { kind: "gone" },
  left: { kind: "left", reason: "app container app still runs" },
  gaveUp: {
    kind: "gave-up",
    reason: "proxy still runs after all methods; if its app is done, delete the pod",
    tried: [
      tried(exec, 1, "no such file"),
      tried(forward, 1, "503"),
      tried(exec, 2, "no such file"),
      tried(forward, 2, "404"),
    ],
  },
} as const satisfies Readonly<Record<string, Outcome>>;

describe("what became of a pod", () => {
  test.each<[string, Outcome, string, string]>([
    [
      "its sidecars ended",
      { kind: "ended", requests: [forward] },
      "ended",
      "proxy, by POST localhost:9/q through a port-forward",
    ],
    [
      "its sidecars ended by the same request in two rounds",
      { kind: "ended", requests: [exec, exec] },
      "ended",
      "proxy, by exec in proxy: /stop",
    ],
    ["it is gone", outcomes.gone, "gone", "the pod was deleted, or another pod has its name now"],
    ["it was left", outcomes.left, "left alone", "app container app still runs"],
    [
      "it was given up: each method has its last answer",
      outcomes.gaveUp,
      "gave up",
      "proxy still runs after all methods; if its app is done, delete the pod; proxy, by exec in proxy: /stop: no such file; proxy, by POST localhost:9/q through a port-forward: 404",
    ],
    [
      "it was given up: a try that did not ask the sidecar does not hide an answer",
      {
        kind: "gave-up",
        reason: "stays",
        tried: [
          { ...tried(exec, 1, "403"), refusal: "unasked" },
          tried(exec, 2, "taken, and still there 7s later"),
          { ...tried(exec, 3, "403"), refusal: "unasked" },
        ],
      },
      "gave up",
      "stays; proxy, by exec in proxy: /stop: taken, and still there 7s later",
    ],
  ])("%s", (_, outcome, result, why) => {
    expect(reportOf(outcome)).toEqual({ result: result as "ended", why });
  });

  test("a pod that would be ended has the first method of each sidecar", () => {
    const pod = podOf({ containers: { app: ended(0), "istio-proxy": running } });
    expect(reportOfVerdict(verdictOf(viewOf(pod), policy, known))).toEqual({
      result: "would end",
      why: "the app has ended and will not restart (app: exit code 0), but istio-proxy still runs: exec in istio-proxy: pilot-agent request POST quitquitquit",
    });
    expect(reportOfVerdict(verdictOf(viewOf(pod), { ...policy, afterMs: 1e9 }, known)).result).toBe("later");
    const over = podOf({ containers: { app: ended(0) }, status: { phase: "Succeeded" } });
    expect(reportOfVerdict(verdictOf(viewOf(over), policy, known)).result).toBe("left alone");
  });
});

describe("an Event", () => {
  test("tells that a sidecar was asked, and of its end", () => {
    const note = "asked proxy to exit: the app has ended; by exec in proxy: /stop";
    const asked = { type: "Normal", reason: "SidecarAsked", note } as const;
    const eventOf = (answer: Answer) => eventOfAnswer(exec, "the app has ended", answer);
    expect(eventOf({ kind: "taken" })).toEqual(asked);
    const why = "no answer within 10s";
    expect(eventOf({ kind: "unanswered", why })).toEqual({ ...asked, note: `${note}; ${why}` });
    expect(eventOf({ kind: "refused", why: "404" })).toBeUndefined();
    expect(eventOf({ kind: "unavailable", why: "503" })).toBeUndefined();
    expect(eventOfOutcome(outcomes.ended)).toMatchObject({ type: "Normal", reason: "SidecarsEnded" });
    expect(eventOfOutcome(outcomes.gaveUp)).toMatchObject({ type: "Warning", reason: "SidecarDidNotExit" });
  });

  test("is none where nothing was done", () => {
    for (const outcome of [outcomes.gone, outcomes.left]) expect(eventOfOutcome(outcome)).toBeUndefined();
  });

  test("has no token in it", () => {
    expect(
      JSON.stringify([
        eventOfAnswer(forward, "x", { kind: "taken" }),
        eventOfOutcome(outcomes.ended),
        reportOf(outcomes.gaveUp),
      ]),
    ).not.toContain("s3cret");
  });

  test.each(["x".repeat(5000), "ü€𝄞".repeat(500)])("has no more bytes than the API server takes: %.5s...", (why) => {
    const note = eventOfOutcome({ ...outcomes.gaveUp, tried: [tried(exec, 1, why)] })?.note ?? "";
    const { length } = new TextEncoder().encode(note);
    expect([length <= 1024, length > 1000, note.endsWith("..."), note.includes("\ufffd")]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});

const row = (pod: string, result: Row["result"], why: string, reason?: Row["reason"]): Row => ({
  namespace: "shop",
  pod,
  result,
  why,
  ...(reason === undefined ? {} : { reason }),
});

const rows = [
  row("web-2", "left alone", "app container web still runs", "app-running"),
  row("web-1", "left alone", "app container web still runs", "app-running"),
  row("old", "left alone", "it has finished: Succeeded", "over"),
  row("debugged", "left alone", "somebody is debugging it", "debugged"),
  row("migrate", "ended", "proxy by exec"),
  row("import", "gave up", "proxy does not go"),
];

const few = { showsAll: false, allJobs: false };

test("the table has what matters most first, and counts those that are left as a matter of course", () => {
  expect(formatReapTable(rows, few)).toBe(`NAMESPACE  POD       RESULT      WHY
shop       import    gave up     proxy does not go
shop       migrate   ended       proxy by exec
shop       debugged  left alone  somebody is debugging it
3 pods not stuck: 2 app-running, 1 over
`);
});

test("the table has the pods that are left as a matter of course, too, if it is to show all, in their order", () => {
  expect(
    formatReapTable(rows, { ...few, showsAll: true })
      .split("\n")
      .map((line) => line.split(/\s+/)[1]),
  ).toEqual([...["POD", "import", "migrate", "debugged", "old", "web-1", "web-2", undefined as unknown as string]]);
});

test("a table without a line is left out", () => {
  expect(formatReapTable(rows.slice(0, 1), few)).toBe("1 pod not stuck: 1 app-running\n");
  expect(formatReapTable([], few)).toBe("no pods\n");
});

test("pods that are not selected: stuck ones have a line, and how to select them is said", () => {
  const unselected = [
    { ...row("stuck", "not selected", "stuck: envoy is left; nobody", "not-selected"), isStuck: true },
    { ...row("busy", "not selected", "nobody", "not-selected"), isStuck: false },
  ];
  expect(formatReapTable(unselected, few)).toBe(`NAMESPACE  POD    RESULT        WHY
shop       stuck  not selected  stuck: envoy is left; nobody
2 pods not selected, 1 stuck: select by the label ebb.dev/reap=true on a pod or its namespace, or with --all-jobs
`);
  expect(formatReapTable(unselected.slice(1), { ...few, allJobs: true })).toBe(
    "1 pod not selected, none stuck: select by the label ebb.dev/reap=true on a pod or its namespace\n",
  );
});

test.each<[string, Verdict, boolean]>([
  ["that is to be ended", { kind: "end", rule: "stuck", reason: "r", containers: [] }, true],
  ["that a missing right alone keeps", { kind: "leave", rule: "no-right", reason: "r" }, true],
  ["that no method ends", { kind: "leave", rule: "no-method", reason: "r" }, true],
  ["whose app runs", { kind: "leave", rule: "app-running", reason: "r" }, false],
])("a pod that is not selected, and %s: whether it is stuck", (_, verdict, isStuck) => {
  expect(reportOfUnselected("not selected", verdict)).toMatchObject({ result: "not selected", isStuck });
});
