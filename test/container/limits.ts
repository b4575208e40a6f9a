import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = "/sys/fs/cgroup";

interface Limits {
  /** The memory in bytes. */
  readonly memory: number;
  /** The processor time in thousandths of one processor. */
  readonly cpu: number;
}

/** Says why containers cannot be limited here; undefined if they can. */
export function limitsObstacle(): string | undefined {
  const unified = join(root, "cgroup.controllers");
  const controllers = existsSync(unified) ? readFileSync(unified, "utf8").trim().split(" ") : [];
  const lacking = ["memory", "cpu"].filter((name) => !controllers.includes(name) && !existsSync(join(root, name)));
  return lacking.length === 0 ? undefined : `no control group for ${lacking.join(", ")}`;
}

/**
 * Returns podman's flags for Kubernetes' `limits: { memory: 16Mi, cpu: 100m }`, in these units; without swap, as on a
 * node.
 */
export function limitFlags({ memory, cpu }: { readonly memory: string; readonly cpu: string }): readonly string[] {
  const bytes = Number(/^(\d+)Mi$/.exec(memory)?.[1]) * 2 ** 20;
  const cpus = Number(/^(\d+)m$/.exec(cpu)?.[1]) / 1000;
  return ["--memory", `${bytes}`, "--memory-swap", `${bytes}`, "--cpus", `${cpus}`];
}

/** Reads the limits of a process's control group, of version 1 or 2. */
export function limitsOf(pid: number): Limits {
  const groups = readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().split("\n");
  const folderOf = (controller: string): string => {
    for (const [, controllers = "", path = ""] of groups.map((line) => line.split(":")))
      if (controllers.split(",").includes(controller)) return join(root, controller, path);
    return join(root, /^0::(.*)$/m.exec(groups.join("\n"))?.[1] ?? "");
  };
  const read = (controller: string, old: string, unified: string): string => {
    const folder = folderOf(controller);
    const path = join(folder, old);
    return readFileSync(existsSync(path) ? path : join(folder, unified), "utf8").trim();
  };
  const [quota = "", unifiedPeriod] = read("cpu", "cpu.cfs_quota_us", "cpu.max").split(" ");
  const period = unifiedPeriod ?? read("cpu", "cpu.cfs_period_us", "cpu.max");
  return {
    memory: Number(read("memory", "memory.limit_in_bytes", "memory.max")),
    cpu: (1000 * Number(quota)) / Number(period),
  };
}
