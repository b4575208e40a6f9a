import { describe, expect, test } from "bun:test";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar, patientLook } from "../envoy.ts";
import { exitCodeOf, hasCondition, type Job, jobOf } from "../objects.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

/** What is done where the app's container ends with one of these exit codes. */
const rule = (action: "FailJob" | "FailIndex", ...values: readonly number[]) => ({
  action,
  onExitCodes: { containerName: "app", operator: "In", values },
});

async function start(
  here: Namespace,
  policies: Readonly<Record<string, unknown>>,
  ...command: readonly string[]
): Promise<void> {
  const app = { name: "app", image: images.appInEbb, args: ["run", ...patientLook, "--", ...command] };
  await here.apply([configMap, jobOf("work", { containers: [app, envoy], volumes: [volume] }, policies)]);
}

function ended(here: Namespace, condition: string): Promise<Job> {
  return here.until(`the Job is ${condition}`, async () => {
    const job = await here.job("work");
    return hasCondition(job, condition) && job;
  });
}

describe("a Job's podFailurePolicy goes by the exit codes of `ebb run`, beside an ordinary sidecar:", () => {
  test.concurrent("a command that is not there fails the Job at the first try", async () => {
    await using here = await namespace();
    const podFailurePolicy = { rules: [rule("FailJob", 64, 69, 126, 127)] };
    await start(here, { podFailurePolicy, podReplacementPolicy: "Failed", backoffLimit: 6 }, "/missing");
    const { status } = await ended(here, "Failed");
    expect(status.failed).toBe(1);
    expect(status.conditions?.find(({ type }) => type === "Failed")).toMatchObject({
      reason: "PodFailurePolicy",
      message: expect.stringContaining("failed with exit code 127"),
    });
  });

  test.concurrent("a signal, 128+n, fails its index alone, without a second try", async () => {
    await using here = await namespace();
    const indexed = { completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 1 };
    await start(
      here,
      { ...indexed, backoffLimit: 6, podFailurePolicy: { rules: [rule("FailIndex", 139)] } },
      "/child",
      "die",
      "11",
    );
    const { status } = await ended(here, "Failed");
    expect(status).toMatchObject({ failed: 2, failedIndexes: "0,1" });
    for (const pod of await here.pods("app=work")) {
      expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([139, 0]);
    }
  });
});
