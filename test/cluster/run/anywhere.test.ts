import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { logOf } from "../../harness/ebb.ts";
import { images, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, type KubeObject, type PodSpec } from "../objects.ts";
import { fill } from "../readme/blocks.ts";

interface Manifest extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: PodSpec } };
}

/** The README's Job without the name of its sidecar, so that ebb looks for one, with the tests' image and app. */
function reportJob(): Manifest {
  const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
  const manifest = /```yaml\n(apiVersion: batch\/v1\nkind: Job\nmetadata: \{ name: report \}\n.*?)```/s.exec(
    readme,
  )?.[1];
  if (manifest === undefined) throw new Error("README.md: the Job report is gone");
  const own = {
    "registry.example.com/report": images.appInEbb,
    '"--sidecar", "auto,istio", ': "",
    '["/my-app", "--month", "10"]': '["/child", "exit", "3"]',
  };
  return Bun.YAML.parse(fill(manifest, own)) as Manifest;
}

/** As an injector adds a sidecar. All else stays as it is, but for ebb's patience: this machine may be slow to start one. */
function injected(job: Manifest, { container, volume }: ReturnType<typeof envoySidecar>): Manifest {
  const { template } = job.spec;
  const containers = template.spec.containers.map((each) => ({
    ...each,
    env: [{ name: "EBB_DETECT_TIMEOUT", value: "2m" }],
  }));
  const isNative = container.restartPolicy === "Always";
  const more: Partial<PodSpec> = {
    containers: isNative ? containers : [...containers, container],
    initContainers: isNative ? [container] : [],
    volumes: [volume],
  };
  const spec = { ...template.spec, ...more };
  return { ...job, spec: { ...job.spec, backoffLimit: 0, template: { ...template, spec } } } as Manifest;
}

const plan = { upstreamPort: 8081 };

test.concurrent.each<[string, ReturnType<typeof envoySidecar> | undefined, readonly string[]]>([
  ["without a sidecar", undefined, ["no sidecar found", "started the command", "done"]],
  [
    "with an ordinary one",
    envoySidecar(plan),
    ["found", "ready", "started the command", "asked the sidecar to exit", "done"],
  ],
  [
    "with a native one",
    envoySidecar({ ...plan, isNative: true }),
    ["found", "ready", "started the command", "asked the sidecar to exit", "done"],
  ],
])("the same Job ends with its command's code %s", async (_, sidecar, said) => {
  await using here = await namespace({ "istio-injection": "disabled" }); // its label asks for one, which other tests install
  const job = reportJob();
  const limited = { ...job, spec: { ...job.spec, backoffLimit: 0 } };
  await here.apply(sidecar === undefined ? [limited] : [sidecar.configMap, injected(job, sidecar)]);
  await here.until("the Job has failed", async () => hasCondition(await here.job("report"), "Failed"));
  const [pod] = await here.pods("batch.kubernetes.io/job-name=report");
  if (pod === undefined) throw new Error("no pod");
  expect(exitCodeOf(pod, "report")).toBe(3);
  if (sidecar !== undefined) expect(exitCodeOf(pod, "envoy")).toBe(0);
  const log = logOf(await here.logs(pod.metadata.name, "report")).map(({ msg }) => msg.replace("ebb: ", ""));
  expect(log.filter((each) => each !== "waiting until ready")).toEqual([...said]);
});
