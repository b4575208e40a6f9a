import { expect, test } from "bun:test";
import { EXIT, Failure } from "../../../src/core/run/exit.ts";
import type { KubeObject } from "../../../src/kube/api/client.ts";
import { lead, type Periods } from "../../../src/kube/controller/lease.ts";
import { until } from "../../harness.ts";
import { never } from "../../time.ts";
import { collectLog } from "../collect-log.ts";
import { createFakeApi, type FakeApi } from "../fake-api.ts";

const PATH = "/apis/coordination.k8s.io/v1/namespaces/x/leases/ebb";
/** So long that no stall of this machine ends a term. */
const long: Periods = { durationMs: 90_000, deadlineMs: 60_000, retryMs: 50 };
const short: Periods = { durationMs: 3000, deadlineMs: 2000, retryMs: 50 };
const LONG_MS = 60_000;

interface Candidate extends AsyncDisposable {
  /** Terms begun, terms ended. */
  readonly terms: { begun: number; ended: number };
  end(): Promise<void>;
  readonly done: Promise<void>;
}

interface Given {
  readonly periods?: Periods;
  readonly work?: (signal: AbortSignal) => Promise<void>;
  readonly log?: ReturnType<typeof collectLog>;
}

function stand(api: FakeApi, identity: string, { periods = long, work, log = collectLog() }: Given = {}): Candidate {
  const stop = new AbortController();
  const terms = { begun: 0, ended: 0 };
  const untilAborted = (signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  };
  const serve = async (signal: AbortSignal): Promise<void> => {
    terms.begun++;
    await (work ?? untilAborted)(signal);
    terms.ended++;
  };
  const done = lead({ api, namespace: "x", name: "ebb", identity, periods }, serve, {
    log,
    signal: stop.signal,
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  return { terms, end, done, [Symbol.asyncDispose]: end };
}

const holder = (api: FakeApi) =>
  (api.objects.get(PATH) as (KubeObject & { spec: { holderIdentity: string } }) | undefined)?.spec.holderIdentity;
const leads = ({ terms }: Candidate): boolean => terms.begun > terms.ended;

test("one leads; when it ends it gives the Lease back, and another leads", async () => {
  const api = createFakeApi();
  await using first = stand(api, "first");
  await until("the first leads", () => leads(first), LONG_MS);
  await using second = stand(api, "second");
  await never("the second leads", () => second.terms.begun > 0, 200);
  expect({ terms: second.terms, holder: holder(api) }).toEqual({ terms: { begun: 0, ended: 0 }, holder: "first" });
  await first.end();
  await until("the second leads", () => leads(second), LONG_MS);
  expect(first.terms).toEqual({ begun: 1, ended: 1 });
  await second.end();
  expect(holder(api)).toBe("");
});

test("a Lease that does not exist, and may not be created, is asked for; installed empty, it is taken at once", async () => {
  const api = createFakeApi();
  api.mayCreate = false;
  const log = collectLog();
  await using candidate = stand(api, "a", { log });
  const asked = () =>
    log.lines.some(({ fields }) => fields.reason === "the Lease ebb does not exist: apply the manifests again");
  await until("it asks for the Lease", asked, LONG_MS);
  expect(candidate.terms.begun).toBe(0);
  api.put(PATH, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "ebb", namespace: "x" } });
  await until("it leads", () => leads(candidate), LONG_MS);
});

test("work that is done gives the Lease back", async () => {
  const api = createFakeApi();
  await using once = stand(api, "once", { work: async () => undefined });
  await once.done;
  expect({ terms: once.terms, holder: holder(api) }).toEqual({ terms: { begun: 1, ended: 1 }, holder: "" });
});

test("work that fails ends it with that", async () => {
  const api = createFakeApi();
  const stop = AbortSignal.timeout(LONG_MS);
  const failing = lead({ api, namespace: "x", name: "ebb", identity: "a" }, () => Promise.reject(new Error("broken")), {
    log: collectLog(),
    signal: stop,
  });
  await expect(failing).rejects.toThrow("broken");
});

test("an API server that is away ends a term in time, and when it is back another begins", async () => {
  const api = createFakeApi();
  await using candidate = stand(api, "a", { periods: short });
  await until("it leads", () => leads(candidate), LONG_MS);
  api.isDown = true;
  await until("it leads no more", () => candidate.terms.ended === 1, LONG_MS);
  api.isDown = false;
  await until("it leads again", () => candidate.terms.begun === 2, LONG_MS);
});

test("so does one that never answers", async () => {
  const api = createFakeApi();
  const { get } = api;
  await using candidate = stand(api, "a", { periods: short });
  await until("it leads", () => leads(candidate), LONG_MS);
  api.get = (_, asking) =>
    new Promise((_, reject) => asking?.signal?.addEventListener("abort", () => reject(asking.signal?.reason)));
  await until("it leads no more", () => candidate.terms.ended === 1, LONG_MS);
  api.get = get;
});

test("one failed or lost write ends nothing", async () => {
  const api = createFakeApi();
  await using candidate = stand(api, "a");
  await until("it leads", () => leads(candidate), LONG_MS);
  for (const next of ["fails", "is lost on the way back"] as const) {
    api.next = next;
    await until("the write", () => api.next === undefined, LONG_MS);
    const before = api.objects.get(PATH);
    await until("another write", () => api.objects.get(PATH) !== before, LONG_MS);
  }
  expect(candidate.terms.begun - candidate.terms.ended).toBe(1);
});

test("a Lease that somebody else has taken ends the term", async () => {
  const api = createFakeApi();
  await using candidate = stand(api, "a");
  await until("it leads", () => leads(candidate), LONG_MS);
  const lease = api.objects.get(PATH) as KubeObject;
  api.put(PATH, { ...lease, spec: { holderIdentity: "another", leaseDurationSeconds: 3600 } });
  await until("it leads no more", () => candidate.terms.ended === 1, LONG_MS);
  expect(holder(api)).toBe("another");
});

test("that it cannot be said for a while who asks ends nothing", async () => {
  const api = createFakeApi();
  const { get } = api;
  let asked = 0;
  api.get = () => {
    asked++;
    return Promise.reject(new Failure(EXIT.unavailable, "kubeconfig: exec plugin x failed: exit code 1"));
  };
  await using candidate = stand(api, "a");
  await until("it has asked twice", () => asked > 1, LONG_MS);
  api.get = get;
  await until("it leads", () => leads(candidate), LONG_MS);
});
