import { testImages } from "./images.ts";
import { loadImages } from "./load.ts";

// bun test/cluster/run.ts [WORD...]: bun test WORD... against a Kubernetes.

process.exit(await main(process.argv.slice(2)));

async function main(words: readonly string[]): Promise<number> {
  const images = testImages();
  const load = process.env.EBB_TEST_LOAD ?? "";
  await loadImages(Object.values(images), load.split(" ").filter(Boolean));
  const references = Object.fromEntries(Object.entries(images).map(([name, { reference }]) => [name, reference]));
  const tests = words.length > 0 ? words : ["test/cluster"];
  const child = Bun.spawn([process.execPath, "test", "--timeout", "300000", ...tests], {
    env: { ...process.env, EBB_TEST_IMAGES: JSON.stringify(references) },
    stdio: ["inherit", "inherit", "inherit"],
  });
  return await child.exited;
}
