import { type Started, type StartOptions, startEbb, until } from "../../harness/ebb.ts";
import { childrenOf, isEbb } from "../../harness/processes.ts";

/** A pod's network, which is its own, in which containers start. */
export interface PodNetwork extends AsyncDisposable {
  /** Starts ebb in a container: with a mount namespace of its own and, unless `sharesPids`, a PID namespace. */
  start(args: readonly string[], options?: ContainerOptions): Started;
  /** Starts ebb beside the first process of a container, as `kubectl exec` does. */
  exec(container: Started, args: readonly string[]): Promise<Started>;
}

export interface ContainerOptions extends StartOptions {
  readonly sharesPids?: boolean;
  /** More flags of unshare(1): `--user`. */
  readonly unshare?: readonly string[];
}

const env = { EBB_HOST_NETWORK: "false", KUBERNETES_SERVICE_HOST: "10.96.0.1" };

/** Makes a network namespace, which ends with the scope. It needs root. */
export async function startPodNetwork(): Promise<PodNetwork> {
  const holder = Bun.spawn(["unshare", "--net", "sh", "-c", "ip link set lo up; echo up; exec sleep 1000"], {
    stdout: "pipe",
  });
  await holder.stdout.getReader().read();
  const inNetwork = ["nsenter", `--net=/proc/${holder.pid}/ns/net`];
  return {
    start(args, { sharesPids = false, unshare = [], env: more, ...options } = {}) {
      const pids = sharesPids ? [] : ["--pid", "--fork", "--mount-proc", "--kill-child"];
      const through = [...inNetwork, "unshare", "--mount", ...pids, ...unshare, ...(options.through ?? [])];
      return startEbb(args, { ...options, env: { ...env, ...more }, through });
    },
    async exec(container, args) {
      const pid = await firstProcess(container);
      const through = [...inNetwork, "nsenter", `--target=${pid}`, "--mount", "--pid"];
      return startEbb(args, { env, through });
    },
    async [Symbol.asyncDispose]() {
      holder.kill("SIGKILL");
      await holder.exited;
    },
  };
}

/** Resolves with the PID of a container's first process, ebb, outside of its namespace. */
export function firstProcess(container: Started): Promise<number> {
  return until("ebb runs in the container", () => {
    if (isEbb(container.pid)) return container.pid;
    return childrenOf(container.pid).find(isEbb);
  });
}
