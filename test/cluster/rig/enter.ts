import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { aptInstall, clusterPackages, isInstalled } from "../../../build/setup/packages.mjs";
import { ebbPath, until } from "../../harness/ebb.ts";
import { groupNames, removeGroup } from "./cgroups.ts";
import { kubernetesFolder } from "./kubernetes.ts";
import { environmentIn, type Parts, partsVariable, placeOf } from "./place.ts";

/** The folder for clusters: containers' files need the file system of a disk, and may be large. */
const parent = "/var/tmp";
const prefix = "ebb-cluster-";

/**
 * Runs a command with a Kubernetes that is started for it, and resolves with the command's exit code. Both run in
 * mount, PID and network namespaces, which end with the command or with this process, however it ends, and with them
 * all that was started, mounted or routed. Several can run at the same time. The folder and the control groups that are
 * left are removed here, or by the next call. Needs root. Rejects if this machine lacks something.
 */
export async function withCluster(
  command: readonly string[],
  say: (line: string) => void,
  parts: Parts = "all",
): Promise<number> {
  const lacking = obstacle();
  if (lacking !== undefined) throw new Error(`no Kubernetes can be started here: it needs ${lacking}`);
  removeLeftovers();
  const kubernetes = kubernetesFolder(say);
  const name = `${prefix}${process.pid}`;
  const folder = join(parent, name);
  mkdirSync(folder);
  const inside = [process.execPath, script, folder, kubernetes, ...command];
  const kept = Object.fromEntries(Object.entries(process.env).filter(([variable]) => !/_proxy$/i.test(variable)));
  const env = { ...kept, [partsVariable]: parts };
  const child = Bun.spawn([...enter, ...init, ...inside], { env, stdio: ["inherit", "inherit", "inherit"] });
  const stopped = onStop(() => child.kill("SIGKILL"));
  const code = await child.exited;
  await until("all processes of the cluster are gone", () => removeGroup(name), 30_000).catch(({ message }) =>
    say(message),
  );
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return stopped() ?? code;
}

/**
 * Makes the namespaces. unshare ends with this process, and its child with it; with PID 1 the whole PID namespace ends.
 */
const enter = [
  "setpriv",
  ...["--pdeathsig", "KILL"],
  ...["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"],
] as const;

/** PID 1, which reaps, as on any machine: containers' shims are not children of the process that starts them. */
const init = [ebbPath, "run", "--sidecar", "none", "--quiet", "--"];

const script = join(import.meta.dirname, "inside.ts");

/**
 * Runs a command in the namespaces of a cluster that this tree has started, and resolves with its exit code. Rejects if
 * none runs.
 */
export async function inRunningCluster(command: readonly string[]): Promise<number> {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const [, path = "", folder = "", kubernetes = ""] = wordsOf(pid);
    if (path !== script || !folder.startsWith(join(parent, prefix))) continue;
    const words = ["nsenter", "--target", pid, "--mount", "--net", "--pid", ...command];
    const env = environmentIn(placeOf(folder, kubernetes));
    return await Bun.spawn(words, { env, stdio: ["inherit", "inherit", "inherit"] }).exited;
  }
  throw new Error("no cluster of this tree is running: `npm run test:cluster -- --shell` starts one");
}

/** Returns the command line of a process; empty if it is gone. */
function wordsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Says what this machine lacks for a cluster; undefined if nothing. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "root";
  const missing = clusterPackages.filter(({ check }) => !isInstalled(check)).map(({ name }) => name);
  if (missing.length > 0) return `what this installs: ${aptInstall(missing).join(" ")}`;
  const [program, ...flags] = enter;
  const { status, stderr } = spawnSync(program, [...flags, "true"], { encoding: "utf8" });
  return status === 0 ? undefined : `leave to make namespaces: ${stderr}`;
}

/** Removes the folders and control groups of runs that were killed. */
function removeLeftovers(): void {
  const names = new Set([...readdirSync(parent).filter((name) => name.startsWith(prefix)), ...groupNames(prefix)]);
  for (const name of names) {
    if (existsSync(`/proc/${name.slice(prefix.length)}`) || !removeGroup(name)) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** Calls `stop` at SIGHUP, SIGINT and SIGTERM. The result returns 128+n after signal n, undefined before. */
function onStop(stop: () => void): () => number | undefined {
  let code: number | undefined;
  const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
  for (const [signal, number] of Object.entries(numbers))
    process.on(signal, () => {
      code ??= 128 + number;
      stop();
    });
  return () => code;
}
