import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ebbPath, type Started, startEbb } from "../harness/ebb.ts";

/** A pod in gVisor: a sandbox with containers, as containerd makes it. */
interface GvisorPod extends AsyncDisposable {
  /** Starts ebb as a container. */
  start(name: string, args: readonly string[]): Started;
  /** Sends SIGTERM to a container's first process. */
  stop(name: string): void;
}

/** Starts the sandbox of a pod, with its files below `folder`. */
export async function startGvisorPod(folder: string): Promise<GvisorPod> {
  const call = ["--network=none", "--ignore-cgroups", "--root", join(folder, "state")];
  const sandbox = `ebb-test-${process.pid}`;
  const started: string[] = [];
  const begin = (name: string, args: readonly string[], annotations: object): readonly string[] => {
    const bundle = join(folder, name);
    for (const each of ["proc", dirname(ebbPath)]) mkdirSync(join(bundle, "root", each), { recursive: true });
    writeFileSync(join(bundle, "config.json"), JSON.stringify(configOf(join(bundle, "root"), args, annotations)));
    started.unshift(name);
    return ["--bundle", bundle, name];
  };
  const bundle = begin(sandbox, ["sleep", "10m"], { "io.kubernetes.cri.container-type": "sandbox" });
  for (const words of [
    ["create", ...bundle],
    ["start", sandbox],
  ]) {
    const { status } = spawnSync("runsc", [...call, ...words], { stdio: "ignore" }); // what it starts keeps them open
    if (status !== 0) throw new Error(`runsc ${words.join(" ")}: exit code ${status}`);
  }
  return {
    start(name, args) {
      const annotations = {
        "io.kubernetes.cri.container-type": "container",
        "io.kubernetes.cri.sandbox-id": sandbox,
      };
      return startEbb([...call, "run", ...begin(`${sandbox}-${name}`, args, annotations)], { program: "runsc" });
    },
    stop: (name) => spawnSync("runsc", [...call, "kill", `${sandbox}-${name}`, "TERM"]),
    async [Symbol.asyncDispose]() {
      for (const name of started) spawnSync("runsc", [...call, "delete", "--force", name]);
    },
  };
}

function configOf(path: string, args: readonly string[], annotations: object): object {
  const folder = dirname(ebbPath);
  const user = { uid: 0, gid: 0 };
  return {
    ociVersion: "1.0.0",
    annotations,
    process: { user, args: [ebbPath, ...args], env: ["EBB_HOST_NETWORK=false"], cwd: "/" },
    root: { path, readonly: true },
    mounts: [
      { type: "proc", source: "proc", destination: "/proc" },
      { type: "bind", source: folder, destination: folder, options: ["rbind", "ro"] },
    ],
    linux: { namespaces: [{ type: "pid" }, { type: "mount" }] },
  };
}
