import { expect, test } from "bun:test";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentFolder, startAgent } from "../../binary/run/agent.ts";
import { ebb } from "../../harness/ebb.ts";

/** The folder of cgroup v2; undefined if this user may not make a control group. */
const unified = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) => existsSync(join(path, "cgroup.procs")));
const canGroup = unified !== undefined && process.getuid?.() === 0;

/** Moves a process into the control group of a pod, as the kubelet names it. */
function moveToPod(pid: number, uid: string): Disposable {
  const pod = join(unified as string, `ebb-test-pod${uid}`);
  const container = join(pod, "container");
  mkdirSync(container, { recursive: true });
  writeFileSync(join(container, "cgroup.procs"), String(pid));
  return {
    [Symbol.dispose]() {
      if (existsSync(`/proc/${pid}`)) writeFileSync(join(unified as string, "cgroup.procs"), String(pid));
      for (const path of [container, pod]) rmdirSync(path);
    },
  };
}

test.skipIf(!canGroup)("with the node's PID namespace no process of another pod is signalled", async () => {
  using folder = agentFolder();
  await using agent = await startAgent([folder.path, "record", "15"]);
  using _ = moveToPod(agent.pid, "517ec9d7-8111-492c-aa93-4dc1d2464fbc");
  const flags = ["--sidecar", "none", "--quit-timeout", "900ms", "--signal-process", folder.name];
  const { code, log } = await ebb(["quit", ...flags]);
  expect(code).toBe(69);
  expect(log.at(-1)).toMatchObject({ outcome: "only other pods run it here (1 process): left alone" });
  expect(agent.output()).toBe("ready\n");
});
