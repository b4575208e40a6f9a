import { testImages } from "./images.ts";
import { loadImages } from "./load.ts";
import { withCluster } from "./rig/enter.ts";

// bun test/cluster/run.ts [WORD...]: `bun test WORD...` against the Kubernetes that KUBECONFIG names, or one that is started
// for it. EBB_TEST_LOAD is the command that gives the archive of an image, its last word, to the nodes: kind load image-archive.

const [, , ...words] = process.argv;

try {
  process.exit(await main());
} catch (error) {
  console.error(`test/cluster: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

async function main(): Promise<number> {
  if (!process.env.KUBECONFIG) return await withCluster([process.execPath, import.meta.path, ...words], console.log);
  const load = process.env.EBB_TEST_LOAD?.split(" ").filter(Boolean) ?? [];
  if (load.length === 0)
    throw new Error("EBB_TEST_LOAD: expected a command such as `kind load image-archive`, got none");
  const images = testImages();
  await loadImages(Object.values(images), load);
  const references = Object.fromEntries(Object.entries(images).map(([name, { reference }]) => [name, reference]));
  const tests = words.length > 0 ? words : ["test/cluster"];
  return await Bun.spawn([process.execPath, "test", "--timeout", "300000", ...tests], {
    env: { ...process.env, EBB_TEST_IMAGES: JSON.stringify(references) },
    stdio: ["inherit", "inherit", "inherit"],
  }).exited;
}
