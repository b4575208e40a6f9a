import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../compiled.ts";
import { collect, temporaryFolder, until } from "../../harness.ts";
import { processState } from "../../processes.ts";

export interface Agent extends AsyncDisposable {
  readonly pid: number;
  /** The signals that it noted, one a line, after `ready`. */
  readonly output: () => string;
}

/** A folder with an executable of a name that nothing else on this machine has. */
export function agentFolder() {
  const folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const name = `agent-${folder.path.slice(-6)}`;
  const path = join(folder.path, name);
  copyFileSync(childPath(), path);
  return { name, path, [Symbol.dispose]: folder[Symbol.dispose] };
}

/** Starts it, until it is ready for signals. */
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

/** Also a zombie has. */
export function hasEnded(pid: number): boolean {
  return [undefined, "Z"].includes(processState(pid));
}
