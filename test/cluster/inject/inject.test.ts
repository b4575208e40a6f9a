import { expect, test } from "bun:test";
import { stringify } from "yaml";
import { ebbPath } from "../../harness/ebb.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, jobOf } from "../objects.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

/** A Job by somebody who knows nothing of ebb, as YAML with a comment. */
function manifest(...args: readonly string[]): string {
  const app = { name: "app", image: images.app, command: ["/child"], args };
  const job = jobOf("work", { containers: [envoy, app], volumes: [volume] });
  return `# settings\n${stringify(configMap)}---\n# the work\n${stringify(job)}`;
}

async function inject(text: string): Promise<string> {
  const options = { stdin: Buffer.from(text), stdout: "pipe", stderr: "pipe" } as const;
  const ended = Bun.spawn([ebbPath, "inject", "--image", images.ebb, "--all"], options);
  const [stdout, stderr] = await Promise.all([ended.stdout.text(), ended.stderr.text()]);
  expect([await ended.exited, stderr]).toEqual([0, expect.stringContaining("Job work: ")]);
  return stdout;
}

/** `ebb inject | kubectl apply -f -`. */
async function applyInjected(here: Namespace, text: string): Promise<string> {
  const changed = await inject(text);
  expect(changed.match(/^# .*$/gm)).toEqual(["# settings", "# the work"]);
  const { code, stderr } = await here.tryKubectl(["apply", "-f", "-"], { stdin: changed });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return changed;
}

test.concurrent.each([
  ["completes, and Envoy with it", ["exit", "0"], "Complete", 0],
  ["fails with the app's own code", ["exit", "3"], "Failed", 3],
] as const)("an unchanged Job beside an Envoy %s: ebb inject | kubectl apply", async (_, args, condition, code) => {
  await using here = await namespace();
  await applyInjected(here, manifest(...args));
  const { metadata } = await here.podOf("work");
  await here.until(`the Job is ${condition}`, async () => hasCondition(await here.job("work"), condition));
  const pod = await here.pod(metadata.name);
  expect({ app: exitCodeOf(pod, "app"), envoy: exitCodeOf(pod, "envoy") }).toEqual({ app: code, envoy: 0 });
});

test.concurrent("what was injected once is the same a second time, and to the API server", async () => {
  await using here = await namespace();
  const once = await applyInjected(here, manifest("exit", "0"));
  const twice = await inject(once);
  expect(twice).toBe(once);
  const { code, stdout } = await here.tryKubectl(["diff", "-f", "-"], { stdin: twice });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
});
