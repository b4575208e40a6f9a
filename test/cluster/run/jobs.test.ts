import { describe, expect, test } from "bun:test";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { type Container, exitCodeOf, hasCondition, jobOf, type Pod, statusOf } from "../objects.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

describe("a Job beside an ordinary sidecar, a real Envoy", () => {
  test.concurrent("never completes without ebb: the app has ended well, Envoy goes on", async () => {
    await using here = await namespace();
    const pod = await start(here, "stuck", { name: "app", image: images.app, args: ["exit", "0"] });
    await here.until("the app has ended", async () => exitCodeOf(await here.pod(pod), "app") === 0);
    await start(here, "later", inEbb("exit", "0"));
    await ended(here, "later", "Complete");
    const now = await here.pod(pod);
    expect(statusOf(now, "envoy")?.state.running).toBeDefined();
    expect(now.status.phase).toBe("Running");
    expect((await here.job("stuck")).status).toMatchObject({ active: 1 });
  });

  test.concurrent("completes with ebb as the entrypoint, where the app ends with 0", async () => {
    await using here = await namespace();
    const pod = await start(here, "work", inEbb("exit", "0"));
    await ended(here, "work", "Complete");
    const now = await here.pod(pod);
    expect(now.status.phase).toBe("Succeeded");
    expect(codes(now)).toEqual({ app: 0, envoy: 0 });
  });

  test.concurrent.each([
    ["ends with 3", ["exit", "3"], 3],
    ["ends with 255", ["exit", "255"], 255],
    ["is ended by SIGTERM", ["die", "15"], 143],
    ["is ended by SIGKILL", ["die", "9"], 137],
    ["is ended by SIGSEGV", ["die", "11"], 139],
    ["is not there", ["/missing"], 127],
  ] as const)("fails with ebb, where the app %s, and shows its code", async (_, words, code) => {
    await using here = await namespace();
    const pod = await start(here, "work", inEbb(...words));
    await ended(here, "work", "Failed");
    const now = await here.pod(pod);
    expect(now.status.phase).toBe("Failed");
    expect(codes(now)).toEqual({ app: code, envoy: 0 });
  });
});

/** It looks for the sidecar longer than it does without --detect-timeout: on a busy machine Envoy needs more than 3 s to start. */
function inEbb(...words: readonly string[]): Container {
  const command = words[0]?.startsWith("/") ? words : ["/child", ...words];
  return { name: "app", image: images.appInEbb, args: ["run", "--detect-timeout", "2m", "--", ...command] };
}

/** The name of the Job's pod. */
async function start(here: Namespace, job: string, app: Container): Promise<string> {
  await here.apply([configMap, jobOf(job, { containers: [envoy, app], volumes: [volume] })]);
  return (await here.podOf(job)).metadata.name;
}

function ended(here: Namespace, job: string, condition: "Complete" | "Failed"): Promise<unknown> {
  return here.until(`the Job ${job} is ${condition}`, async () => hasCondition(await here.job(job), condition));
}

function codes(pod: Pod): object {
  return Object.fromEntries(pod.spec.containers.map(({ name }) => [name, exitCodeOf(pod, name)]));
}
