import { describe, expect, test } from "bun:test";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { type Container, exitCodeOf, podOf, statusOf } from "../objects.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

/** What somebody sees who asks why the pod has failed. */
interface Failure {
  readonly code: number | undefined;
  readonly message: string | undefined;
  readonly description: string;
}

async function failureOf(here: Namespace, app: Container): Promise<Failure> {
  await here.apply([configMap, podOf("pod", { containers: [app, envoy], volumes: [volume] })]);
  await here.until("the app has ended", async () => exitCodeOf(await here.pod("pod"), "app") !== undefined);
  const { exitCode, message } = statusOf(await here.pod("pod"), "app")?.state.terminated ?? {};
  return { code: exitCode, message, description: await here.kubectl("describe", "pod", "pod") };
}

const app = (...args: readonly string[]) => ({ name: "app", image: images.appInEbb, args });

describe("kubectl describe pod says why ebb failed:", () => {
  test.concurrent.each([
    [
      "a sidecar that is never ready",
      [
        "run",
        "--admin",
        "http://localhost:9",
        "--wait-timeout",
        "1s",
        "--quit-timeout",
        "1s",
        "--",
        "/child",
        "exit",
        "0",
      ],
      69,
      "ebb: not ready within 1s: http://localhost:9/ready: connection refused (envoy, because of --admin; if there is no sidecar in this pod, set --sidecar none)",
    ],
    [
      "a command that is not there",
      ["run", "--", "/missing"],
      127,
      "ebb: cannot start /missing: no such file or directory",
    ],
    ["a command that is none", ["run", "--", "/"], 126, "ebb: cannot start /: permission denied: it is a folder"],
    [
      "options that are wrong, all of them",
      ["run", "--drain", "soon", "--wait-timeoutt", "3s", "--", "/child", "exit", "0"],
      64,
      'ebb: unknown flag --wait-timeoutt; did you mean --wait-timeout?; --drain: expected a duration such as 30s, 1m30s or 500ms, got "soon"',
    ],
  ])("%s", async (_, words, code, reason) => {
    await using here = await namespace();
    const failure = await failureOf(here, app(...words));
    expect(failure.code).toBe(code);
    expect(failure.message).toBe(`${reason}\n`);
    expect(failure.description).toContain(`Message:  ${reason}`);
    expect(failure.description).toMatch(new RegExp(`Exit Code: +${code}`));
  });

  test.concurrent("an init container that waits for what does not come; the app is not started", async () => {
    await using here = await namespace();
    const wait = ["wait", "--sidecar", "none", "--wait-timeout", "1s", "tcp://localhost:9"];
    const init = { name: "wait-for-database", image: images.ebb, args: wait };
    await here.apply([podOf("pod", { initContainers: [init], containers: [app("run", "--", "/child", "exit", "0")] })]);
    await here.until("the pod has failed", async () => (await here.pod("pod")).status.phase === "Failed");
    const pod = await here.pod("pod");
    expect(statusOf(pod, "wait-for-database")?.state.terminated).toMatchObject({
      exitCode: 69,
      message: "ebb: not ready within 1s: tcp://localhost:9: connection refused\n",
    });
    expect(statusOf(pod, "app")?.state.waiting?.reason).toBe("PodInitializing");
  });

  test.concurrent("nothing, where the command itself fails: its code is its own", async () => {
    await using here = await namespace();
    const { code, message } = await failureOf(here, app("run", "--", "/child", "exit", "69"));
    expect({ code, message }).toEqual({ code: 69, message: undefined });
  });
});
