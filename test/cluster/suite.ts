import { runHere, runTask } from "../harness/task.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import { programsOf, type User } from "../sidecars/programs.ts";
import { variablesOf } from "./environment.ts";
import { type ImageReferences, type MoreContents, referencesOf, testImages } from "./images.ts";
import { loadImages } from "./load.ts";
import { startProxy } from "./proxy.ts";
import { inRunningCluster, withCluster } from "./rig/enter.ts";

/** Tests that need a Kubernetes. */
export interface Suite {
  /** The task that runs them: `test:cluster`. */
  readonly task: string;
  /** Their folder. */
  readonly folder: string;
  /** The path of the program that calls `runSuite`. It is run once more, where KUBECONFIG names a cluster. */
  readonly program: string;
  /** What the compiled programs that they need are used by. */
  readonly users: readonly User[];
  /** Makes what else they need. It may download: it is called where the network is, and again where only the cluster is. */
  readonly prepare?: () => void;
  /** The images that they need beside those of test/cluster. */
  readonly images?: MoreContents;
  /** How many of a file's concurrent tests run at once; by default as many as Bun has it. */
  readonly atOnce?: number;
}

/** Does what the words of the command line say, and ends this process. */
export async function runSuite(suite: Suite): Promise<never> {
  return await runTask(suite.task, () => main(suite, process.argv.slice(2)));
}

function helpOf({ task }: Suite): string {
  return `npm run ${task} -- [WORD...]
  runs the tests that need a Kubernetes, or \`bun test WORD...\`, beside one that is started for them and ends with them
  --shell           runs a shell in their place, with kubectl
  --join [WORD...]  runs them in the cluster of such a shell; \`npm run ${task} -- --join --shell\`: another shell
variables:
  KUBECONFIG        the cluster to be used instead; its nodes are of this machine's architecture
  EBB_TEST_LOAD     then the command that gives an image to its nodes, without its last word, the path of an archive:
                    kind load image-archive`;
}

async function main(suite: Suite, words: readonly string[]): Promise<number> {
  const [first, ...rest] = words;
  if (first === "--help") return console.log(helpOf(suite)) ?? 0;
  for (const name of suite.users.flatMap(programsOf)) compiledProgram(name); // here, because that downloads: namespaces have no way out
  suite.prepare?.();
  if (first === "--join") return await inRunningCluster(again(suite, rest));
  if (!process.env.KUBECONFIG) return await withCluster(again(suite, words), console.log);
  if (first === "--shell") return await runHere([process.env.SHELL ?? "sh"]);
  const tests = words.length > 0 ? words : [suite.folder];
  const limit = suite.atOnce === undefined ? [] : ["--max-concurrency", `${suite.atOnce}`];
  return await runWithImages([process.execPath, "test", "--timeout", "300000", ...limit, ...tests], suite.images);
}

/**
 * Gives the tests' images, and more, to the nodes of KUBECONFIG's cluster, and runs a command that needs them there, by
 * cluster.ts. Resolves with its exit code.
 */
export async function runWithImages(command: readonly string[], more?: MoreContents): Promise<number> {
  const images = await giveImages(more);
  using proxy = await startProxy();
  return await runHere(command, variablesOf({ images, proxy: proxy.socket }));
}

/** Returns the command that runs a suite's program once more, in a process whose KUBECONFIG names a cluster. */
function again({ program }: Suite, more: readonly string[]): readonly string[] {
  return [process.execPath, program, ...more];
}

/** Gives the tests' images to the nodes with EBB_TEST_LOAD, and resolves with their names. */
async function giveImages(more?: MoreContents): Promise<ImageReferences> {
  const command = process.env.EBB_TEST_LOAD?.split(" ").filter(Boolean) ?? [];
  if (command.length === 0)
    throw new Error(
      "EBB_TEST_LOAD: expected the command that gives images to the nodes of KUBECONFIG's cluster (--help)",
    );
  const images = testImages(more);
  await loadImages(Object.values(images), command);
  return referencesOf(images);
}
