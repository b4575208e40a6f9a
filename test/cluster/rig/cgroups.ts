import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = "/sys/fs/cgroup";

/** Each hierarchy of version 1, or the one of version 2. */
function hierarchies(): readonly string[] {
  if (existsSync(join(root, "cgroup.procs"))) return [root];
  const folders = readdirSync(root).map((name) => join(root, name));
  return folders.filter((path) => existsSync(join(path, "cgroup.procs")));
}

/** Makes the control group that all pods of a cluster are in. */
export function makeGroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    handDown(hierarchy);
    mkdirSync(join(hierarchy, name), { recursive: true });
  }
}

/** Version 2: the kubelet refuses a group that lacks a controller of the root's (pkg/kubelet/cm, cgroup_v2_manager_linux.go). */
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

/** The names of the groups that clusters have made, in whichever hierarchy. */
export function groupNames(prefix: string): readonly string[] {
  return [...new Set(hierarchies().flatMap((path) => readdirSync(path)))].filter((name) => name.startsWith(prefix));
}

/** Removes it with all that is in it. False where processes are still there. */
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
