import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import type { Namespace } from "../cluster.ts";
import { type Output, tryKubectl } from "../kubectl.ts";

/** The real kubectl, with ebb as its plugin in PATH. */
interface Plugin extends Disposable {
  /** Runs `kubectl ebb WORD...` in the namespace, and resolves with its exit code and output. */
  ebb(here: Namespace, ...words: readonly string[]): Promise<Output>;
  /** Runs `kubectl WORD...`; `env` is added to this process's. */
  kubectl(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Output>;
}

/** Puts the plugin and its completion into a folder of PATH, as symlinks; `using` it. */
export function installPlugin(): Plugin {
  const folder = temporaryFolder();
  for (const name of ["kubectl-ebb", "kubectl_complete-ebb"]) symlinkSync(ebbPath, join(folder.path, name));
  const kubectl: Plugin["kubectl"] = (words, env) =>
    tryKubectl(words, { env: { PATH: `${folder.path}:${process.env.PATH}`, ...env } });
  return {
    kubectl,
    ebb: (here, ...words) => {
      const [name = "", ...rest] = words;
      return kubectl(["ebb", name, "-n", here.name, ...rest]);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
