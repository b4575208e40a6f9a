import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = "/sys/fs/cgroup";

/** Returns the roots of all hierarchies of version 1, or of the only one of version 2. */
function hierarchies(): readonly string[] {
  if (existsSync(join(root, "cgroup.procs"))) return [root];
  const folders = readdirSync(root).map((name) => join(root, name));
  return folders.filter((path) => existsSync(join(path, "cgroup.procs")));
}

/** Creates a control group, for all pods of a cluster, in each hierarchy. */
export function makeGroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    handDown(hierarchy);
    mkdirSync(join(hierarchy, name), { recursive: true });
  }
}

/**
 * Hands all controllers of version 2 down to groups, because the kubelet refuses a group that lacks a controller of the
 * root (pkg/kubelet/cm, cgroup_v2_manager_linux.go).
 */
function handDown(hierarchy: string): void {
  const path = join(hierarchy, "cgroup.controllers");
  if (!existsSync(path)) return;
  const controllers = readFileSync(path, "utf8").trim().split(" ").filter(Boolean);
  for (const name of controllers) {
    try {
      writeFileSync(join(hierarchy, "cgroup.subtree_control"), `+${name}`);
    } catch {
      // the kubelet says which one it misses
    }
  }
}

/** Returns the names of the control groups that begin with a prefix, in any hierarchy. */
export function groupNames(prefix: string): readonly string[] {
  return [...new Set(hierarchies().flatMap((path) => readdirSync(path)))].filter((name) => name.startsWith(prefix));
}

/** Removes a control group with all groups in it. Returns false if there are still processes in it. */
export function removeGroup(name: string): boolean {
  return hierarchies()
    .map((hierarchy) => removeFolder(join(hierarchy, name)))
    .every(Boolean);
}

function removeFolder(path: string): boolean {
  if (!existsSync(path)) return true;
  const inside = readdirSync(path).map((name) => join(path, name));
  const areGone = inside.filter((each) => statSync(each).isDirectory()).map(removeFolder);
  if (!areGone.every(Boolean) || readFileSync(join(path, "cgroup.procs"), "utf8") !== "") return false;
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false; // a process that is ending still counts
  }
}
