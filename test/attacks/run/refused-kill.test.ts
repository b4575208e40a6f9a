import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { SIG } from "../../../src/shared/core/signal.ts";
import { canUnshare, lineOf, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf, isEbb } from "../../harness/processes.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

// A command that has become root by a set-uid program, under an ebb that is not root and lacks the capability KILL.

const USER = "65532";
const asUser = [
  "setpriv",
  "--reuid",
  USER,
  "--regid",
  USER,
  "--clear-groups",
  "--inh-caps=-all",
  "--bounding-set=-kill",
];
const namespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot || !canUnshare(...namespace.slice(1)))("a command that ebb may not signal (needs root)", () => {
  test.each([
    ["as PID 1", [...namespace, ...asUser]],
    ["below another process", asUser],
  ])("is left at the end of the grace: the sidecar is quit, and the exit code is 137 (%s)", async (_, through) => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const become = join(folder.path, "setpriv");
    copyFileSync(Bun.which("setpriv") as string, become);
    chmodSync(become, 0o4755);
    await using sidecar = await fakeSidecar();
    const flags = ["--sidecar", "none", "--quit", `${sidecar.url}/quitquitquit`, "--grace", "30ms"];
    const app = [become, "--reuid", "0", "sh", "-c", 'echo "pid $$"; exec sleep 60'];
    await using started = startEbb(["run", ...flags, "--", ...app], { through });
    await until("the app runs", () => started.stdout().includes("pid "));
    const ebb = isEbb(started.pid) ? started.pid : (childrenOf(started.pid).find(isEbb) as number);
    const [pid = 0] = childrenOf(ebb);
    process.kill(ebb, SIG.TERM);
    await until("the sidecar is quit", () => sidecar.requests.includes("POST /quitquitquit"), 5000);
    if (through === asUser) process.kill(pid, SIG.KILL); // it has ebb's stdout; in a namespace of its own it ends with ebb
    const ended = await started.ended;
    expect(ended.code).toBe(137);
    expect(lineOf(ended, "grace period over: cannot send SIGKILL to what is left of the command")).toMatchObject({
      level: "warn",
      problem: "operation not permitted",
    });
    expect(lineOf(ended, "the command still runs after SIGKILL: exiting without it").level).toBe("warn");
  });
});
