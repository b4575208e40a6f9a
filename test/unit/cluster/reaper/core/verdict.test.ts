import { describe, expect, test } from "bun:test";
import { ruleNames } from "../../../../../src/cluster/reaper/core/pod-rules.ts";
import type { ReapPolicy } from "../../../../../src/cluster/reaper/core/policy.ts";
import { ended, now, ofJob, type PodInWords, running } from "./stuck-pods.ts";
import { native, stuck, testLeft, verdict } from "./stuck-verdicts.ts";

/** A title, the pod, and the containers to end. */
type Ended = readonly [title: string, pod: PodInWords, containers: readonly string[], policies?: Partial<ReapPolicy>];

function testEnded(rows: readonly Ended[]): void {
  test.each(rows.map(([title, pod, containers, policies = {}]) => [title, pod, containers, policies] as const))(
    "%s",
    (_, pod, containers, policies) => {
      const got = verdict(pod, policies);
      expect([got.kind, got.reason]).toEqual([
        "end",
        expect.stringContaining("the app has ended and will not restart"),
      ]);
      expect(got.kind === "end" && got.containers.map(({ container }) => container)).toEqual([...containers]);
    },
  );
}

describe("sidecars are ended", () => {
  testEnded([
    ["when the only app has ended", { containers: stuck }, ["istio-proxy"]],
    ["when it has failed, with restartPolicy Never", { containers: { ...stuck, app: ended(3) } }, ["istio-proxy"]],
    [
      "when it has succeeded, with restartPolicy OnFailure",
      { containers: stuck, spec: { restartPolicy: "OnFailure" } },
      ["istio-proxy"],
    ],
    ["when it was killed", { containers: { ...stuck, app: ended(137, 60, "OOMKilled") } }, ["istio-proxy"]],
    ["when all apps have ended", { containers: { ...stuck, other: ended(1) } }, ["istio-proxy"]],
    [
      "companions before the proxy that they may send through",
      { containers: { ...stuck, daprd: running, "vault-agent": running } },
      ["daprd", "vault-agent", "istio-proxy"],
    ],
    ["those that still run", { containers: { ...stuck, daprd: ended(0) } }, ["istio-proxy"]],
    [
      "those that the pod names",
      {
        containers: { app: ended(0), mine: running },
        annotations: { "ebb.dev/sidecars": "mine", "ebb.dev/reap-exec.mine": "/stop" },
      },
      ["mine"],
    ],
    [
      "those that Istio's injector names",
      {
        containers: { app: ended(0), extra: running },
        annotations: { "sidecar.istio.io/status": '{"containers":["extra"]}', "ebb.dev/reap-exec.extra": "/stop" },
      },
      ["extra"],
    ],
    [
      "though native sidecars run, which are the kubelet's to end",
      { containers: stuck, initContainers: { "linkerd-proxy": { state: running, ...native } } },
      ["istio-proxy"],
    ],
    ["after init containers that are done", { containers: stuck, initContainers: { init: ended(0) } }, ["istio-proxy"]],
    [
      "after all its containers were started again",
      {
        containers: stuck,
        status: {
          conditions: [
            { type: "AllContainersRestarting", status: "False" },
            { type: "Ready", status: "True" },
          ],
        },
      },
      ["istio-proxy"],
    ],
    [
      "though somebody had debugged it",
      { containers: stuck, ephemeralContainers: { debugger: ended(0) } },
      ["istio-proxy"],
    ],
    [
      "when the app alone does not come back, by its own restartPolicy",
      {
        containers: {
          app: { state: ended(1), spec: { restartPolicy: "Never" } },
          "istio-proxy": { state: running, spec: { restartPolicy: "OnFailure" } },
        },
        spec: { restartPolicy: "Always" },
      },
      ["istio-proxy"],
    ],
    [
      "when the app's own rules are about other exit codes",
      {
        containers: {
          app: {
            state: ended(1),
            spec: {
              restartPolicy: "Never",
              restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
            },
          },
          "istio-proxy": running,
        },
      },
      ["istio-proxy"],
    ],
    [
      "those that their image tells",
      { containers: { app: ended(0), mesh: { state: running, spec: { image: "docker.io/istio/proxyv2:1.27" } } } },
      ["mesh"],
    ],
    [
      "a container with a sidecar's name is the app where ebb.dev/apps says so",
      { containers: { envoy: ended(0), "istio-proxy": running }, annotations: { "ebb.dev/apps": "envoy" } },
      ["istio-proxy"],
    ],
  ]);
});

describe("pods are chosen", () => {
  const plain = (more: Partial<PodInWords> = {}): PodInWords => ({
    containers: stuck,
    metadata: { annotations: {}, ...more.metadata },
    ...(more.labels === undefined ? {} : { labels: more.labels }),
  });
  const labelled = (value: string): PodInWords => ({
    containers: stuck,
    metadata: { annotations: {}, labels: { "ebb.dev/reap": value } },
  });
  const shop = (word: string) => ({ namespaces: new Map([["shop", word]]) });
  testEnded([
    ["by a label", labelled("true"), ["istio-proxy"]],
    ["by their namespace", plain(), ["istio-proxy"], shop("true")],
    ["of Jobs, with --all-jobs", plain({ metadata: ofJob }), ["istio-proxy"], { allJobs: true }],
    ["that a person has named", plain(), ["istio-proxy"], { isNamed: true }],
  ]);
  testLeft([
    ["not without a word", plain(), "not-selected", "neither it nor its namespace has the label ebb.dev/reap=true"],
    ["not of Jobs without --all-jobs", plain({ metadata: ofJob }), "not-selected", "neither it"],
    ["not others with --all-jobs", plain(), "not-selected", "does not belong to a Job", { allJobs: true }],
    [
      "not with --all-jobs where what is called Job is none of Kubernetes'",
      plain({
        metadata: { ownerReferences: [{ apiVersion: "dummy.com/v1", kind: "Job", name: "x", controller: true }] },
      }),
      "not-selected",
      "does not belong to a Job",
      { allJobs: true },
    ],
    [
      "not by another namespace's word",
      plain(),
      "not-selected",
      "neither",
      { namespaces: new Map([["other", "true"]]) },
    ],
    [
      "never against their label",
      labelled("false"),
      "opted-out",
      'its label says ebb.dev/reap: "false"',
      { allJobs: true, isNamed: true },
    ],
    ["never against their namespace's word", { containers: stuck }, "opted-out", "namespace shop says", shop("false")],
    [
      "never against their annotation",
      { containers: stuck, annotations: { "ebb.dev/reap": "false" }, labels: { "ebb.dev/reap": "true" }, metadata: {} },
      "opted-out",
      "its annotation says",
      { ...shop("true"), allJobs: true },
    ],
    [
      "never by a word that is neither true nor false",
      { containers: stuck, annotations: { "ebb.dev/reap": "ture" } },
      "unreadable-choice",
      'its annotation ebb.dev/reap: expected true or false, got "ture"',
      { ...shop("true"), allJobs: true },
    ],
    [
      "never, where one word is unreadable and another says no: no counts",
      { containers: stuck, annotations: { "ebb.dev/reap": "ture" }, labels: { "ebb.dev/reap": "false" } },
      "opted-out",
      "its label",
    ],
  ]);
});

test("a pod that is done with is left for its own reason", () => {
  const handled = "given up: it refuses to go";
  expect(verdict({ containers: stuck }, {}, { handled })).toEqual({
    kind: "leave",
    rule: "handled",
    reason: handled,
  });
});

describe("nothing is ended before --after", () => {
  const at = (seconds: number) => ({ ...stuck, app: ended(0, seconds) });

  test.each<[number, string, number | undefined]>([
    [0, "later", now + 5000],
    [4, "later", now + 1000],
    [5, "end", undefined],
    [60, "end", undefined],
  ])("%d s after the app's end: %s", (seconds, kind, time) => {
    const got = verdict({ containers: at(seconds) });
    expect(got.kind).toBe(kind as "end");
    expect(got.kind === "later" ? got.at : undefined).toEqual(time as number);
  });

  test("the last app's end counts", () => {
    const got = verdict({ containers: { ...at(60), other: ended(0, 2) } });
    expect(got).toMatchObject({ kind: "later", at: now + 3000, reason: expect.stringContaining("less than 5s ago") });
  });

  test("a node whose clock is ahead does not put it off for ever: when it was first seen counts", () => {
    const ahead = { containers: at(-3600) };
    expect(verdict(ahead)).toMatchObject({ kind: "later", at: now + 5000 });
    const seenAt = now - 4000;
    expect(verdict(ahead, {}, { seenAt })).toMatchObject({ kind: "later", at: now + 1000 });
    expect(verdict(ahead, {}, { seenAt, now: now + 1000 }).kind).toBe("end");
  });
});

test("the reason says how each app ended, but what still runs", () => {
  expect(verdict({ containers: stuck }).reason).toBe(
    "the app has ended and will not restart (app: exit code 0), but istio-proxy still runs",
  );
  const got = verdict({ containers: { ...stuck, second: ended(3), daprd: running } });
  expect(got.reason).toBe(
    "the app has ended and will not restart (app: exit code 0, second: exit code 3), but daprd, istio-proxy still run",
  );
});

test("each rule has one name", () => {
  expect(new Set(ruleNames).size).toBe(ruleNames.length);
});
