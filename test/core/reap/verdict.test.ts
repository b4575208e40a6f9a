import { describe, expect, test } from "bun:test";
import { type ReaperMemory, type Rule, ruleNames } from "../../../src/core/reap/pod-rules.ts";
import type { ReapPolicy } from "../../../src/core/reap/policy.ts";
import { verdictOf } from "../../../src/core/reap/verdict.ts";
import {
  ago,
  ended,
  known,
  nothing,
  now,
  ofJob,
  type PodInWords,
  podOf,
  policy,
  running,
  waiting,
} from "./stuck-pods.ts";

const stuck = { app: ended(0), "istio-proxy": running };
const native = { spec: { restartPolicy: "Always" } };

const verdict = (pod: PodInWords, policies: Partial<ReapPolicy> = {}, knowing: Partial<ReaperMemory> = {}) =>
  verdictOf(podOf(pod), { ...policy, ...policies }, { ...known, ...knowing });

/** A title, the pod, the rule by which it is left, and what is in the reason. */
type Left = readonly [title: string, pod: PodInWords, rule: Rule, reason: string, policies?: Partial<ReapPolicy>];

function testLeft(rows: readonly Left[]): void {
  test.each(rows.map(([title, pod, rule, reason, policies = {}]) => [title, pod, rule, reason, policies] as const))(
    "%s",
    (_, pod, rule, reason, policies) => {
      const got = verdict(pod, policies);
      expect([got.kind, got.rule]).toEqual(["leave", rule]);
      expect(got.reason).toContain(reason);
    },
  );
}

/** A title, the pod, and the containers to end. */
type Ended = readonly [title: string, pod: PodInWords, containers: readonly string[], policies?: Partial<ReapPolicy>];

function testEnded(rows: readonly Ended[]): void {
  test.each(rows.map(([title, pod, containers, policies = {}]) => [title, pod, containers, policies] as const))(
    "%s",
    (_, pod, containers, policies) => {
      const got = verdict(pod, policies);
      expect([got.kind, got.reason]).toEqual(["end", expect.stringContaining("ended for good")]);
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
      "a container with a sidecar's name is the app where ebb.dev/containers says so",
      { containers: { envoy: ended(0), "istio-proxy": running }, annotations: { "ebb.dev/containers": "envoy" } },
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
  ]);
  testLeft([
    ["not without a word", plain(), "not-chosen", 'neither it nor its namespace says ebb.dev/reap: "true"'],
    ["not of Jobs without --all-jobs", plain({ metadata: ofJob }), "not-chosen", "neither it"],
    ["not others with --all-jobs", plain(), "not-chosen", "no Job's", { allJobs: true }],
    [
      "not with --all-jobs where what is called Job is none of Kubernetes'",
      plain({
        metadata: { ownerReferences: [{ apiVersion: "dummy.com/v1", kind: "Job", name: "x", controller: true }] },
      }),
      "not-chosen",
      "no Job's",
      { allJobs: true },
    ],
    ["not by another namespace's word", plain(), "not-chosen", "neither", { namespaces: new Map([["other", "true"]]) }],
    [
      "never against their label",
      labelled("false"),
      "opted-out",
      'its label says ebb.dev/reap: "false"',
      { allJobs: true },
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

describe("a pod is left", () => {
  testLeft([
    [
      "while it is being deleted",
      { containers: stuck, metadata: { deletionTimestamp: ago(1) } },
      "deleted",
      "the kubelet ends all",
    ],
    ["when it has succeeded", { containers: stuck, status: { phase: "Succeeded" } }, "over", "Succeeded"],
    ["when it has failed", { containers: stuck, status: { phase: "Failed" } }, "over", "Failed"],
    ["while it is pending", { containers: stuck, status: { phase: "Pending" } }, "pending", "Pending"],
    ["when it has no phase", { containers: stuck, status: { phase: undefined } }, "pending", "not set"],
    ["when its state is unknown", { containers: stuck, status: { phase: "Unknown" } }, "node-lost", "node is lost"],
    ["when its node is lost", { containers: stuck, status: { reason: "NodeLost" } }, "node-lost", "node is lost"],
    [
      "when it is a mirror of a static pod",
      { containers: stuck, annotations: { "kubernetes.io/config.mirror": "hash" } },
      "static",
      "static pod",
    ],
    [
      "when its node owns it",
      {
        containers: stuck,
        metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", controller: true }] },
      },
      "static",
      "static pod",
    ],
    ["when it has no UID", { containers: stuck, metadata: { uid: undefined } }, "unreadable", "no metadata.uid"],
    ["when it has no name", { containers: stuck, metadata: { name: "" } }, "unreadable", "no metadata.name"],
    [
      "when two containers have one name",
      { containers: stuck, spec: { containers: [{ name: "app" }, { name: "app" }] } },
      "unreadable",
      "two containers of one name",
    ],
    [
      "when it is a server",
      { containers: stuck, spec: { restartPolicy: "Always" } },
      "restarts-always",
      "after any exit",
    ],
    [
      "when it says no restartPolicy",
      { containers: stuck, spec: { restartPolicy: undefined } },
      "restarts-always",
      "Always",
    ],
    [
      "when it has only sidecars",
      { containers: { "istio-proxy": running, daprd: ended(0) } },
      "no-app",
      "all its containers",
    ],
    ["when it has no sidecar", { containers: { app: ended(0), other: running } }, "no-sidecar", "ebb.dev/sidecars"],
    [
      "when its sidecars are native",
      { containers: { app: ended(0) }, initContainers: { "istio-proxy": { state: running, ...native } } },
      "no-sidecar",
      "native (istio-proxy)",
    ],
    [
      "when a container is said to be both",
      { containers: stuck, annotations: { "ebb.dev/containers": "app,a", "ebb.dev/sidecars": "b, app" } },
      "contradiction",
      "both name app",
    ],
    [
      "when it says how to end a container that is not there",
      { containers: stuck, annotations: { "ebb.dev/reap-quit.istio-prox": "http://localhost:1/" } },
      "contradiction",
      'ebb.dev/reap-quit.istio-prox: there is no container "istio-prox"',
    ],
    [
      "when a slip makes an app of its sidecar",
      { containers: { app: ended(0), metrics: running }, annotations: { "ebb.dev/sidecars": "metrcs" } },
      "contradiction",
      'there is no container "metrcs": this pod\'s containers are app, metrics; did you mean metrics?',
    ],
    [
      "while its init containers run anew",
      { containers: stuck, initContainers: { init: running } },
      "initializing",
      "init container init is not done",
    ],
    [
      "when an init container has failed",
      { containers: stuck, initContainers: { init: ended(1) } },
      "initializing",
      "init container init",
    ],
    [
      "while all its containers are started again",
      { containers: stuck, status: { conditions: [{ type: "AllContainersRestarting", status: "True" }] } },
      "restarting",
      "being started again",
    ],
    ["while the app runs", { containers: { ...stuck, app: running } }, "app-running", "app container app still runs"],
    ["while one of the apps runs", { containers: { ...stuck, other: running } }, "app-running", "other still runs"],
    [
      "while an app waits for its next start",
      { containers: { ...stuck, app: waiting("CrashLoopBackOff") }, spec: { restartPolicy: "OnFailure" } },
      "app-waiting",
      "CrashLoopBackOff",
    ],
    [
      "while an app's state is not known",
      { containers: { ...stuck, app: nothing } },
      "app-unknown",
      "app container app",
    ],
    [
      "when the kubelet has lost sight of the app",
      { containers: { ...stuck, app: ended(137, 60, "ContainerStatusUnknown") } },
      "app-unknown",
      "app container app",
    ],
    [
      "when an app's end has no time",
      { containers: { ...stuck, app: { terminated: { exitCode: 0, finishedAt: null } } } },
      "app-unknown",
      "app",
    ],
    [
      "when the time of an app's end is none that Kubernetes writes",
      { containers: { ...stuck, app: { terminated: { exitCode: 0, finishedAt: "2026" } } } },
      "app-unknown",
      "app",
    ],
    [
      "when an app's end has no code",
      { containers: { ...stuck, app: { terminated: { finishedAt: ago(60) } } } },
      "app-unknown",
      "app",
    ],
    [
      "when an app has no status",
      { containers: stuck, status: { containerStatuses: [{ name: "istio-proxy", state: running }] } },
      "app-unknown",
      "app",
    ],
    [
      "when the app has failed, and is started again",
      { containers: { ...stuck, app: ended(3) }, spec: { restartPolicy: "OnFailure" } },
      "app-restarts",
      "starts app again (restartPolicy OnFailure, exit code 3)",
    ],
    [
      "when the app's own rule starts it again",
      {
        containers: {
          app: {
            state: ended(42),
            spec: {
              restartPolicy: "Never",
              restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
            },
          },
          "istio-proxy": running,
        },
      },
      "app-restarts",
      "restartPolicyRules: Restart after exit code 42",
    ],
    [
      "when the app's end starts all containers again",
      { containers: { ...stuck, app: ended(0, 60, "RestartingAllContainers") } },
      "app-restarts",
      "RestartingAllContainers",
    ],
    [
      "while a sidecar waits",
      { containers: { ...stuck, "istio-proxy": waiting("CrashLoopBackOff") } },
      "sidecar-waiting",
      "istio-proxy waits: CrashLoopBackOff",
    ],
    [
      "while a sidecar's state is not known",
      { containers: { ...stuck, daprd: nothing } },
      "sidecar-unknown",
      "sidecar daprd",
    ],
    [
      "when a sidecar would be started again",
      { containers: { ...stuck, "istio-proxy": { state: running, spec: { restartPolicy: "Always" } } } },
      "sidecar-restarts",
      "would start istio-proxy again after it was ended (its own restartPolicy Always)",
    ],
    [
      "when a sidecar has failed, and is started again",
      { containers: { ...stuck, "istio-proxy": ended(1) }, spec: { restartPolicy: "OnFailure" } },
      "sidecar-restarts",
      "starts istio-proxy again",
    ],
    [
      "when its sidecars have ended",
      { containers: { ...stuck, "istio-proxy": ended(0) } },
      "sidecars-ended",
      "already",
    ],
    [
      "while somebody debugs it",
      { containers: stuck, ephemeralContainers: { "debugger-x": running } },
      "debugged",
      "debugger-x",
    ],
    [
      "while a container of the reaper's is at work in it",
      { containers: stuck, ephemeralContainers: { "ebb-reaper-1": running } },
      "being-ended",
      "ebb-reaper-1 is ending its sidecars",
    ],
    [
      "while a container of the reaper's is about to start in it",
      { containers: stuck, ephemeralContainers: { "ebb-reaper-1": waiting("ContainerCreating") } },
      "being-ended",
      "ebb-reaper-1 is ending its sidecars",
    ],
    [
      "when nothing is known that ends a sidecar",
      { containers: { app: ended(0), mine: running }, annotations: { "ebb.dev/sidecars": "mine" } },
      "no-means",
      "ebb does not know how mine is ended: say how with the annotation ebb.dev/reap-exec.mine, or ebb.dev/reap-quit.mine",
    ],
    [
      "when what is beside the app takes no quit",
      { containers: { app: ended(0), "otc-container": running } },
      "no-means",
      "ebb does not know how otc-container is ended",
    ],
    [
      "when nothing that may be done ends a sidecar",
      { containers: { app: ended(0), "linkerd-proxy": running } },
      "no-means",
      "none of the allowed means (exec) ends linkerd-proxy: allow more with --means",
      { means: ["exec"] },
    ],
  ]);
});

test.each<[unknown, string]>([
  [undefined, "not-chosen"],
  ["pod", "not-chosen"],
  [[], "not-chosen"],
  [{ ...podOf({ containers: stuck }), status: undefined }, "unreadable"],
  [{ ...podOf({ containers: stuck }), spec: 7 }, "unreadable"],
  [{ ...podOf({ containers: stuck }), spec: { containers: [null] } }, "unreadable"],
  [{ ...podOf({ containers: stuck }), spec: { containers: [{ name: "app" }, {}] } }, "unreadable"],
])("what is no pod is left: %j", (pod, rule) => {
  const got = verdictOf(pod, policy, known);
  expect([got.kind, got.rule]).toEqual(["leave", rule as Rule]);
});

test("a pod that is done with is left for its own reason, by its UID", () => {
  const handled = new Map([["uid-1", "given up: it refuses to go"]]);
  expect(verdict({ containers: stuck }, {}, { handled })).toEqual({
    kind: "leave",
    rule: "handled",
    reason: "given up: it refuses to go",
  });
  expect(verdict({ containers: stuck, metadata: { uid: "uid-2" } }, {}, { handled }).kind).toBe("end");
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
    const seen = new Map([["uid-1", now - 4000]]);
    expect(verdict(ahead, {}, { seen })).toMatchObject({ kind: "later", at: now + 1000 });
    expect(verdict(ahead, {}, { seen, now: now + 1000 }).kind).toBe("end");
  });
});

test("the reason says how each app ended, and what is left", () => {
  expect(verdict({ containers: stuck }).reason).toBe(
    "the app has ended for good (app with 0), and istio-proxy is left",
  );
  const got = verdict({ containers: { ...stuck, second: ended(3), daprd: running } });
  expect(got.reason).toBe("the app has ended for good (app with 0, second with 3), and daprd, istio-proxy are left");
});

test("each rule has one name", () => {
  expect(new Set(ruleNames).size).toBe(ruleNames.length);
});
