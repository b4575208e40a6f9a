import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { collect, temporaryFolder, until } from "../../harness/ebb.ts";
import { processState } from "../../harness/processes.ts";

interface Agent extends AsyncDisposable {
  readonly pid: number;
  /** Returns what it has written: `ready`, then a line for each signal that came. */
  readonly output: () => string;
}

/** Creates a folder with a copy of test/fixtures/child.c's executable, under a name that no other process has. */
export function agentFolder() {
  const folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const name = `agent-${folder.path.slice(-6)}`;
  const path = join(folder.path, name);
  copyFileSync(childPath(), path);
  return { name, path, [Symbol.dispose]: folder[Symbol.dispose] };
}

/** Starts such an executable. Resolves once it is ready for signals. */
export async function startAgent(command: readonly string[]): Promise<Agent> {
  const agent = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const output = collect(agent.stdout);
  await until("the agent is ready", () => output.text().includes("ready\n"));
  return {
    pid: agent.pid,
    output: output.text,
    async [Symbol.asyncDispose]() {
      agent.kill("SIGKILL");
      await agent.exited;
    },
  };
}

/** Reports whether a process has ended; a zombie has. */
export function hasEnded(pid: number): boolean {
  return [undefined, "Z"].includes(processState(pid));
}
