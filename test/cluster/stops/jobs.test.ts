import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Namespace } from "../cluster.ts";
import { exitCodeOf, jobOf } from "../objects.ts";
import { specOf, stage, start } from "./pods.ts";
import { expectNothingLost, stop } from "./stop.ts";

let here: Namespace;

beforeAll(async () => {
  here = await stage();
});

afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
});

/** Starts a Job whose app needs 5 s after its SIGTERM, and resolves with its pod. */
async function startJob(name: string, restartPolicy: "Never" | "OnFailure"): Promise<string> {
  const spec = specOf({ needsMs: [5000], serves: false, flags: [], restartPolicy });
  return await start(here, jobOf(name, spec));
}

const deadline = ["--type=merge", "-p", '{"spec":{"activeDeadlineSeconds":1}}'];

describe("a Job's pod loses no call of its app, and is gone soon:", () => {
  test.concurrent.each(["Never", "OnFailure"] as const)("the Job is deleted, restartPolicy %s", async (policy) => {
    const job = `deleted-${policy.toLowerCase()}`;
    const pod = await startJob(job, policy);
    const end = await stop(here, pod, { ask: () => here.kubectl("delete", "job", job, "--wait=false") });
    expectNothingLost(`a Job deleted, ${policy}`, end, { app: 5000 });
  });

  test.concurrent("the Job is past its activeDeadlineSeconds", async () => {
    const pod = await startJob("late", "Never");
    const end = await stop(here, pod, { ask: () => here.kubectl("patch", "job", "late", ...deadline) });
    expectNothingLost("a Job past its activeDeadlineSeconds", end, { app: 5000 });
  });

  test.concurrent("the pod is past its own, and stays", async () => {
    const name = await startJob("late-pod", "Never");
    const end = await stop(here, name, { ask: () => here.kubectl("patch", "pod", name, ...deadline) });
    expectNothingLost("a Job's pod past its activeDeadlineSeconds", end, { app: 5000 });
    const pod = await here.pod(name);
    expect(pod.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
    expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([0, 0]);
  });
});
