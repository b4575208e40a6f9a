import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Ended, ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { onChannel } from "../../stand-in/api-server/api-server.ts";
import { type Cluster, startCluster } from "./reaper.ts";

/** A stand-in cluster, and the executable under the names by which it is kubectl's plugin. */
interface PluginCluster extends Cluster {
  /** Runs `kubectl-ebb WORD...` in the namespace `shop`, unless the words say otherwise. */
  plugin(...words: readonly string[]): Promise<Ended>;
  /** Runs `kubectl_complete-ebb WORD...`. */
  complete(...words: readonly string[]): Promise<string>;
  /** What a command in a container prints and exits with, by its words; undefined: there is no such program. */
  programs: (words: readonly string[], container: string) => Ran | undefined;
}

interface Ran {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
}

/** Starts such a cluster, without pods. No container of it has a program. */
export function startPluginCluster(): PluginCluster {
  const cluster = startCluster();
  const folder = temporaryFolder();
  for (const name of ["kubectl-ebb", "kubectl_complete-ebb"]) symlinkSync(ebbPath, join(folder.path, name));
  const [flag = "", kubeconfig = ""] = cluster.flags;
  const env = { KUBECONFIG: kubeconfig };
  const run = (name: string, words: readonly string[]) => ebb(words, { program: join(folder.path, name), env });
  const one: PluginCluster = Object.assign(cluster, {
    plugin: async (name = "", ...words: readonly string[]) =>
      await run("kubectl-ebb", [name, ...(/^-|^help$/.test(name) ? [] : [flag, kubeconfig, "-n", "shop"]), ...words]),
    complete: async (...words: readonly string[]) => (await run("kubectl_complete-ebb", words)).stdout,
    programs: (): Ran | undefined => undefined,
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await dispose();
    },
  });
  const dispose = cluster.api[Symbol.asyncDispose];
  cluster.api.exec = {
    open(far, url) {
      const ran = one.programs(url.searchParams.getAll("command"), url.searchParams.get("container") ?? "");
      if (ran?.stdout !== undefined) far.send(onChannel(1, ran.stdout));
      if (ran?.stderr !== undefined) far.send(onChannel(2, ran.stderr));
      far.send(onChannel(3, JSON.stringify(statusOf(ran))));
      far.close();
    },
  };
  return one;
}

/** The kubelet's last message about a command (apimachinery pkg/util/remotecommand). */
function statusOf(ran: Ran | undefined): object {
  if (ran === undefined)
    return { status: "Failure", reason: "InternalError", message: "exec: stat: no such file or directory" };
  const { code = 0 } = ran;
  const causes = [{ reason: "ExitCode", message: `${code}` }];
  return code === 0 ? { status: "Success" } : { status: "Failure", reason: "NonZeroExitCode", details: { causes } };
}
