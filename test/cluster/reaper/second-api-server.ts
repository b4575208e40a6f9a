import { readdirSync, readFileSync } from "node:fs";
import { until } from "../../harness/ebb.ts";
import { freePort } from "../../harness/free-port.ts";

/** A second API server, on the same etcd as the cluster's own, for a test to kill. */
export interface SecondApiServer extends AsyncDisposable {
  readonly port: number;
  start(): Promise<void>;
  kill(): Promise<void>;
}

const LONG_MS = 120_000;

/** Returns the command line of the cluster's own API server; undefined if it does not run on this machine. */
export function apiServerCommand(): readonly string[] | undefined {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(commandOf).find(([program = ""]) => program.endsWith("/kube-apiserver"));
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  } catch {
    return []; // it has ended meanwhile
  }
}

/** Creates a second API server, which `start` starts; `isReady` tells whether the server at a port answers. */
export async function secondApiServer(
  command: readonly string[],
  isReady: (port: number) => Promise<boolean>,
): Promise<SecondApiServer> {
  const port = await freePort();
  // the Service `kubernetes` still leads to the first one
  const own = ["--secure-port", String(port), "--endpoint-reconciler-type", "none"];
  let server: Bun.Subprocess | undefined;
  const kill = async (): Promise<void> => {
    server?.kill("SIGKILL");
    await server?.exited;
  };
  return {
    port,
    async start() {
      server = Bun.spawn([...command, ...own], { stdio: ["ignore", "ignore", "ignore"] });
      await until("the second API server is ready", async () => (await isReady(port)) || undefined, LONG_MS);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
