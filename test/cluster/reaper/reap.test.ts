import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findApiServer } from "../../../src/cluster/api/client.ts";
import { throttleClient } from "../../../src/cluster/controller/throttle.ts";
import type { EndRequest, EndResult, Outcome } from "../../../src/cluster/reaper/core/attempt.ts";
import { type MethodKind, methodKinds } from "../../../src/cluster/reaper/core/methods.ts";
import { viewOf } from "../../../src/cluster/reaper/core/pod-view.ts";
import { createSender } from "../../../src/cluster/reaper/methods/send.ts";
import type { PodRecords } from "../../../src/cluster/reaper/pod-record.ts";
import { createReconciler } from "../../../src/cluster/reaper/reconciler.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { collectLog } from "../../unit/cluster/collect-log.ts";
import { minorVersion } from "../api.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { type Container, exitCodeOf, hasCondition, jobOf, type Pod, podOf, statusOf } from "../objects.ts";

// What ends a sidecar from outside of its pod, with a real Envoy, containerd and kubelet.

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const reaped = { "ebb.dev/reap": "true" };

/** The app's end with this code, and Envoy, in which ebb is installed. */
function stuckSpec(code: number, ofApp: Partial<Container> = {}) {
  const ebbFolder = { name: "ebb", mountPath: "/ebb.dev" };
  const installed = { ...envoy, volumeMounts: [...(envoy.volumeMounts as object[]), ebbFolder] };
  const app = { name: "app", image: images.app, args: ["exit", String(code)], ...ofApp };
  return {
    initContainers: [
      { name: "install", image: images.ebb, args: ["install", "/ebb.dev/ebb"], volumeMounts: [ebbFolder] },
    ],
    containers: [installed, app],
    volumes: [volume, { name: "ebb", emptyDir: {} }],
  };
}

async function stuckJob(here: Namespace, code: number): Promise<Pod> {
  const job = jobOf("work", stuckSpec(code));
  const { template } = job.spec as { template: { metadata: object } };
  Object.assign(template.metadata, { annotations: reaped });
  await here.apply([configMap, job]);
  return await stuck(here, (await here.podOf("work")).metadata.name);
}

async function stuck(here: Namespace, name: string): Promise<Pod> {
  return await here.until("the app has ended and Envoy runs", async () => {
    const pod = await here.pod(name);
    return exitCodeOf(pod, "app") !== undefined && statusOf(pod, "envoy")?.ready ? pod : undefined;
  });
}

interface Reaped {
  /** Undefined: it was stopped before, after `requests`. */
  readonly outcome: Outcome | undefined;
  /** The requests that were sent, with their results. */
  readonly sent: readonly (readonly [EndRequest, EndResult])[];
  readonly log: ReturnType<typeof collectLog>;
}

interface Otherwise {
  readonly kubeconfig?: string;
  /** Happens before each look at the pod. */
  readonly meanwhile?: () => Promise<void>;
  /** Happens between what a request reads and what it writes. */
  readonly between?: () => Promise<void>;
  /** The number of answered requests after which it is stopped. */
  readonly requests?: number;
}

/** Ends the sidecars of one pod, as `ebb reaper --once` does. */
async function reapPod(pod: Pod, methods: readonly MethodKind[], otherwise: Otherwise = {}): Promise<Reaped> {
  const { meanwhile, between, kubeconfig, requests = Number.POSITIVE_INFINITY } = otherwise;
  const log = collectLog();
  const api = throttleClient(await findApiServer({ env: process.env, kubeconfig }, log), async () => undefined);
  const sent: [EndRequest, EndResult][] = [];
  const stop = new AbortController();
  const turn = async () => undefined;
  const patch: typeof api.patch = async (...words) => {
    await between?.();
    return await api.patch(...words);
  };
  const get: typeof api.get = async (...words) => {
    await meanwhile?.();
    return await api.get(...words);
  };
  const send = createSender({ api: { ...api, patch }, image: images.ebb, log });
  const records: PodRecords = new Map();
  const reconciler = createReconciler({
    ...{ records, api: { ...api, get }, turn, concurrency: 1, isDryRun: false, isOnce: true, log: collectLog() },
    async send(request, target) {
      const result = await send(request, target);
      if (result.kind !== "unanswered") sent.push([request, result]); // the API server is busy
      if (resultsOf(sent).length >= requests) stop.abort();
      return result;
    },
    events: { write: async () => undefined },
    metrics: { judged: () => undefined, sent: () => undefined, attempted: () => undefined },
    userErrors: { update: () => undefined },
    policy: () => ({ afterMs: 0, allJobs: false, allowsReapExec: true, methods, namespaces: new Map() }),
  });
  reconciler.changed(viewOf(pod as Parameters<typeof viewOf>[0]));
  await reconciler.run(stop.signal);
  return { outcome: records.get(pod.metadata.uid ?? "")?.outcome, sent, log };
}

/** But for those that a busy API server had no time for. */
function resultsOf(sent: Reaped["sent"]): readonly (readonly [MethodKind, EndResult])[] {
  const answered = sent.filter(([, { kind }]) => kind !== "unavailable");
  return answered.map(([{ method }, result]) => [method.kind, result]);
}

function whysOf(sent: Reaped["sent"]): readonly string[] {
  return resultsOf(sent).flatMap(([, result]) => ("why" in result ? [result.why] : []));
}

describe("a Job that a real Envoy keeps from its end", () => {
  test.concurrent.each(methodKinds)("completes by %s", async (method) => {
    await using here = await namespace();
    const pod = await stuckJob(here, 0);
    const { outcome, sent } = await reapPod(pod, [method]);
    expect(resultsOf(sent)).toEqual([[method, { kind: "taken" }]]);
    expect(outcome?.kind).toBe("ended");
    await here.until("the Job is complete", async () => hasCondition(await here.job("work"), "Complete"));
    expect(exitCodeOf(await here.pod(pod.metadata.name), "envoy")).toBe(0);
  });

  test.concurrent("completes by ephemeral, where somebody else writes to the pod at the same time", async () => {
    await using here = await namespace();
    const pod = await stuckJob(here, 0);
    let written = 0;
    const write = async () => {
      if (++written === 1) await here.kubectl("annotate", "pod", pod.metadata.name, "somebody=else");
    };
    const { outcome, sent } = await reapPod(pod, ["ephemeral"], { between: write });
    expect(written).toBeGreaterThanOrEqual(2); // the kubelet may write in between, too
    expect(resultsOf(sent)).toEqual([["ephemeral", { kind: "taken" }]]);
    expect(outcome?.kind).toBe("ended");
  });

  test.concurrent("fails where its app has failed", async () => {
    await using here = await namespace();
    const pod = await stuckJob(here, 3);
    const { outcome } = await reapPod(pod, ["port-forward"]);
    expect(outcome?.kind).toBe("ended");
    await here.until("the Job has failed", async () => hasCondition(await here.job("work"), "Failed"));
    expect(exitCodeOf(await here.pod(pod.metadata.name), "app")).toBe(3);
  });
});

describe("another pod that has taken the name", () => {
  test.concurrent.each(methodKinds)("is not touched by %s, though it is as stuck", async (method) => {
    await using here = await namespace();
    const one = podOf("work", stuckSpec(0), { annotations: reaped });
    await here.apply([configMap, one]);
    const pod = await stuck(here, "work");
    let looks = 0;
    const replace = async (): Promise<void> => {
      if (++looks > 1) return;
      await here.kubectl("delete", "pod", "work", "--force", "--grace-period=0");
      await here.apply([one]);
      await stuck(here, "work");
    };
    const { outcome, sent } = await reapPod(pod, [method], { meanwhile: replace });
    expect({ sent, outcome }).toEqual({ sent: [], outcome: { kind: "gone" } });
    const other = await here.pod("work");
    expect(other.metadata.uid).not.toBe(pod.metadata.uid);
    expect(statusOf(other, "envoy")?.state.running).toBeDefined();
    expect(other.spec.ephemeralContainers).toBeUndefined();
  });
});

test("what cannot be done is told in the words of who cannot do it", async () => {
  await using here = await namespace();
  const annotations = {
    ...reaped,
    "ebb.dev/reap-exec.envoy": '["/no-such-command"]',
    "ebb.dev/reap-quit.envoy": "http://localhost:1/quit",
  };
  await here.apply([configMap, podOf("work", stuckSpec(0), { annotations })]);
  const pod = await stuck(here, "work");
  const { outcome, sent } = await reapPod(pod, ["exec", "port-forward"]);
  expect(outcome?.kind).toBe("gave-up");
  const whys = whysOf(sent);
  expect(whys[0]).toContain("no such file or directory");
  expect(whys[1]).toContain("connection refused");
});

/** A kubeconfig of a ServiceAccount that may do this to the pods here. */
async function accountFor(here: Namespace, folder: string, rules: readonly object[]): Promise<string> {
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: "reaper" };
  const subjects = [{ kind: "ServiceAccount", name: "reaper", namespace: here.name }];
  await here.apply([
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      subjects,
      roleRef: { apiGroup: rbac, kind: "Role", name: "reaper" },
    },
  ]);
  const token = (await here.kubectl("create", "token", "reaper")).trim();
  const config = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"));
  const path = join(folder, "kubeconfig");
  await Bun.write(path, JSON.stringify({ ...config, users: [{ name: config.users[0].name, user: { token } }] }));
  return path;
}

const rule = (resource: string, ...verbs: readonly string[]) => ({ apiGroups: [""], resources: [resource], verbs });

describe("who may do less, by a token", () => {
  test.concurrent.each<[MethodKind, readonly object[]]>([
    ["exec", [rule("pods/exec", "get", "create")]],
    ["port-forward", [rule("pods/portforward", "get", "create")]],
    ["ephemeral", [rule("pods/ephemeralcontainers", "patch")]],
  ])("%s alone is enough, and what is not allowed is told in the server's words", async (allowed, rules) => {
    await using here = await namespace();
    using folder = temporaryFolder();
    const pod = await stuckJob(here, 0);
    const kubeconfig = await accountFor(here, folder.path, [rule("pods", "get"), ...rules]);
    const methods = [...methodKinds.filter((kind) => kind !== allowed), allowed];
    const { outcome, sent, log } = await reapPod(pod, methods, { kubeconfig });
    expect(outcome?.kind).toBe("ended");
    await here.until("the Job is complete", async () => hasCondition(await here.job("work"), "Complete"));
    const user = `User "system:serviceaccount:${here.name}:reaper" cannot`;
    for (const why of whysOf(sent)) expect(why).toContain(`is forbidden: ${user}`);
    expect(new Set(log.lines.map(({ fields }) => fields.method))).toEqual(new Set(methods.slice(0, 2)));
  });

  test.concurrent.each([
    ["get", "create"],
    ["create", "get"],
  ])("exec with %s alone is refused where the API server asks for %s, too", async (verb, missing) => {
    await using here = await namespace();
    using folder = temporaryFolder();
    const pod = await stuckJob(here, 0);
    const kubeconfig = await accountFor(here, folder.path, [rule("pods", "get"), rule("pods/exec", verb)]);
    const { sent } = await reapPod(pod, ["exec"], { kubeconfig, requests: 1 });
    const isAsked = missing !== "create" || (await minorVersion()) >= 35;
    if (!isAsked) return expect(resultsOf(sent)).toEqual([["exec", { kind: "taken" }]]);
    expect(whysOf(sent)[0]).toContain(`cannot ${missing} resource "pods/exec"`);
  });
});
