import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../build/setup/cache.mjs";
import { runTool } from "./tool.ts";

// bun inside.ts COMMAND... runs the tests in mount, network and PID namespaces of their own (run.ts). These are the
// network around the pods, and all that is started, mounted and routed ends with them.

const cache = "/run/cache";
const temporary = "/run/tmp";

await runTool("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run");
// sidecars run as users that cannot see the home folder of the user who compiled them
mkdirSync(join(cache, "ebb"), { recursive: true });
await runTool("mount", "--bind", cacheFolder(), join(cache, "ebb"));
// each pod's containers have a /tmp of their own
mkdirSync(temporary);
chmodSync(temporary, 0o1777);
// no server resolves names here: look-ups fail at once
writeFileSync("/run/resolv.conf", "");
await runTool("mount", "--bind", "/run/resolv.conf", "/etc/resolv.conf");
await runTool("ip", "link", "set", "lo", "up");
// /etc/hosts as the kubelet writes it for a pod with a network of its own (kubernetes pkg/kubelet/kubelet_pods.go)
const kubelets = "/run/kubelet/pods/0b6b1c5e-7a0f-4a4c-9c4e-2f6a0c1d2e3f";
mkdirSync(kubelets, { recursive: true });
writeFileSync(join(kubelets, "etc-hosts"), "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost\n");
await runTool("mount", "--bind", join(kubelets, "etc-hosts"), "/etc/hosts");
const env = { ...process.env, XDG_CACHE_HOME: cache, TMPDIR: temporary };
process.exit(await Bun.spawn(process.argv.slice(2), { env, stdio: ["inherit", "inherit", "inherit"] }).exited);
