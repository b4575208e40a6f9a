import { join } from "node:path";
import { compiledProgram } from "../sidecars/compile.ts";
import { programsOf } from "../sidecars/programs.ts";
import { variablesOf } from "./environment.ts";
import { type ImageReferences, referencesOf, testImages } from "./images.ts";
import { loadImages } from "./load.ts";
import { startProxy } from "./proxy.ts";
import { inRunningCluster, withCluster } from "./rig/enter.ts";

const HELP = `npm run test:cluster -- [WORD...]
  runs the tests that need a Kubernetes, or \`bun test WORD...\`, beside one that is started for them and ends with them
  --shell           runs a shell in their place, with kubectl
  --join [WORD...]  runs them in the cluster of such a shell; \`npm run test:cluster -- --join --shell\`: another shell
variables:
  KUBECONFIG        the cluster to be used instead; its nodes are of this machine's architecture
  EBB_TEST_LOAD     then the command that gives an image to its nodes, without its last word, the path of an archive:
                    kind load image-archive`;

const [, , ...words] = process.argv;

try {
  process.exit(await main());
} catch (error) {
  console.error(`test:cluster: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

async function main(): Promise<number> {
  const [first, ...rest] = words;
  if (first === "--help") return console.log(HELP) ?? 0;
  for (const name of programsOf("cluster")) compiledProgram(name); // here, because that downloads: namespaces have no way out
  if (first === "--join") return await inRunningCluster(again(rest));
  if (!process.env.KUBECONFIG) return await withCluster(again(words), console.log);
  if (first === "--shell") return await run([process.env.SHELL ?? "sh"]);
  const tests = words.length > 0 ? words : ["test/cluster"];
  const images = await giveImages();
  using proxy = await startProxy();
  const command = [process.execPath, "test", "--timeout", "300000", ...tests];
  return await run(command, variablesOf({ images, proxy: proxy.socket }));
}

/** Returns the command that runs this program once more, in a process whose KUBECONFIG names a cluster. */
function again(more: readonly string[]): readonly string[] {
  return [process.execPath, import.meta.path, ...more];
}

/** Gives the tests' images to the nodes with EBB_TEST_LOAD, and resolves with their names. */
async function giveImages(): Promise<ImageReferences> {
  const command = process.env.EBB_TEST_LOAD?.split(" ").filter(Boolean) ?? [];
  if (command.length === 0)
    throw new Error(
      "EBB_TEST_LOAD: expected the command that gives images to the nodes of KUBECONFIG's cluster (--help)",
    );
  const images = testImages();
  await loadImages(Object.values(images), command);
  return referencesOf(images);
}

function run(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  const cwd = join(import.meta.dirname, "..", "..");
  return Bun.spawn([...command], { cwd, env: { ...process.env, ...env }, stdio: ["inherit", "inherit", "inherit"] })
    .exited;
}
