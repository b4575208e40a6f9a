import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeGroup } from "./cgroups.ts";
import { runTool } from "./daemon.ts";
import { network, type Place } from "./place.ts";

/**
 * Kernel settings that the kubelet wants (pkg/kubelet/cm, setupKernelTunables). It sees these files; the machine's
 * stay.
 */
const kernelSettings = {
  "vm/overcommit_memory": 1,
  "vm/panic_on_oom": 0,
  "kernel/panic": 10,
  "kernel/panic_on_oops": 1,
  "kernel/keys/root_maxkeys": 1_000_000,
  "kernel/keys/root_maxbytes": 25_000_000,
};

/** Prepares these namespaces, whose mounts and network are nobody else's, for a node. */
export async function prepareMachine({ at, group }: Place): Promise<void> {
  for (const path of ["/run", "/var/log"]) await runTool("mount", "-t", "tmpfs", "tmpfs", path);
  for (const path of ["/var/lib/containerd", "/var/lib/kubelet", "/var/lib/cni"]) await replace(path, at(path));
  for (const [name, value] of Object.entries(kernelSettings)) {
    const file = at("sysctl", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${value}\n`);
    await runTool("mount", "--bind", file, join("/proc/sys", name));
  }
  makeGroup(group);
  await runTool("ip", "link", "set", "lo", "up");
  await runTool("ip", "address", "add", `${network.node}/32`, "dev", "lo");
  // a way for packets to a Service before kube-proxy's rules give them another destination
  await runTool("ip", "route", "add", network.services, "dev", "lo", "src", network.node);
  writeFileSync("/proc/sys/net/ipv4/ip_forward", "1");
}

async function replace(path: string, by: string): Promise<void> {
  for (const folder of [path, by]) mkdirSync(folder, { recursive: true });
  await runTool("mount", "--bind", by, path);
}
