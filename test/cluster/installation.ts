import { ebb } from "../harness.ts";
import { images, type Namespace, namespace } from "./cluster.ts";
import { kubectl, type Output, tryKubectl } from "./kubectl.ts";

/** What `ebb manifests` prints, for a namespace and under a name of its own; `await using` it. */
export interface Installation extends AsyncDisposable {
  /** Where it is installed. */
  readonly here: Namespace;
  /** The name of all its objects: `NAME-webhook`. */
  readonly name: string;
  readonly yaml: string;
  /** `kubectl WORDS... -f -`, with what was printed. */
  kubectl(...words: readonly string[]): Promise<Output>;
}

/** Prints it, and installs nothing yet. What is installed later goes with the namespace. */
export async function installation(...flags: readonly string[]): Promise<Installation> {
  const here = await namespace();
  // else kubectl --server-side wants to take over what kubectl without it has made
  await kubectl(["annotate", "namespace", here.name, "kubectl.kubernetes.io/last-applied-configuration-"]);
  const own = ["--namespace", here.name, "--name", here.name, "--image", images.ebb];
  const { code, stdout: yaml, stderr } = await ebb(["manifests", ...own, ...flags]);
  if (code !== 0) throw new Error(`ebb manifests: exit code ${code}\n${stderr}`);
  const ask = (...words: readonly string[]) => tryKubectl([...words, "-f", "-"], { stdin: yaml });
  return {
    here,
    name: `${here.name}-webhook`,
    yaml,
    kubectl: ask,
    async [Symbol.asyncDispose]() {
      await ask("delete", "--ignore-not-found", "--wait=false");
      await here[Symbol.asyncDispose]();
    },
  };
}
