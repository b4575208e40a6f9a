import { join } from "node:path";
import { collect, temporaryFolder, until } from "../harness/ebb.ts";

interface Proxy extends Disposable {
  /** The path of its socket. */
  readonly socket: string;
}

/** Starts a `kubectl proxy` on a socket; `using` it. Resolves once it listens. It also ends with this process. */
export async function startProxy(): Promise<Proxy> {
  const folder = temporaryFolder();
  const socket = join(folder.path, "socket");
  const command = ["setpriv", "--pdeathsig", "KILL", "kubectl", "proxy", `--unix-socket=${socket}`];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const listens = (): boolean => {
    if (child.exitCode !== null) throw new Error(`kubectl proxy ended: ${stderr.text()}`);
    return stdout.text().includes("Starting to serve");
  };
  await until("kubectl proxy listens", listens, 60_000);
  return {
    socket,
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      folder[Symbol.dispose]();
    },
  };
}
