import { expect } from "bun:test";
import { type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, type KubeObject, type Pod, type PodSpec } from "../objects.ts";
import { blocksIn, fill } from "../readme/blocks.ts";

const blocks = blocksIn("src/manual/install.md");

/** Returns the text of the block of code of a section of the manual's page `install`, with the reader's own words. */
export function textOf(section: string, own: Readonly<Record<string, string>>): string {
  const [block, ...more] = blocks.filter((each) => each.section === section);
  if (block === undefined || more.length > 0) throw new Error(`install.md: ${more.length} more blocks in "${section}"`);
  return fill(block.text, own);
}

/** The words of the page's manifests that are about Istio: the Jobs here run beside an Envoy. */
export const besideEnvoy = {
  '"--sidecar", "auto,istio"': '"--sidecar", "envoy"',
  'sidecar.istio.io/inject: "true"': 'sidecar.istio.io/inject: "false"',
};

/** Runs a Job beside an ordinary Envoy. Resolves with its pod if it completes and Envoy has ended. Rejects otherwise. */
export async function runBesideEnvoy(job: KubeObject): Promise<Pod> {
  const { configMap, volume, container } = envoySidecar({ upstreamPort: 8081 });
  const { template, ...spec } = job.spec as { readonly template: { readonly spec: PodSpec } };
  const containers = template.spec.containers.map((each) => ({
    ...each,
    env: [{ name: "EBB_SIDECAR", value: "envoy" }],
  }));
  const pod = {
    ...template.spec,
    containers: [...containers, container],
    volumes: [...(template.spec.volumes ?? []), volume],
  };
  await using here: Namespace = await namespace({ "istio-injection": "disabled" });
  const beside = { ...job, spec: { ...spec, backoffLimit: 0, template: { ...template, spec: pod } } };
  await here.apply([configMap, beside]);
  const { name } = job.metadata;
  await here.until("the Job is complete", async () => hasCondition(await here.job(name), "Complete"));
  const [ended] = await here.pods(`batch.kubernetes.io/job-name=${name}`);
  if (ended === undefined) throw new Error("no pod");
  expect(exitCodeOf(ended, "envoy")).toBe(0);
  expect(await here.logs(ended.metadata.name, name)).toContain('"ebb: asked the sidecar to exit"');
  return ended;
}
