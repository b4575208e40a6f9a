import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { until } from "../../harness/ebb.ts";

interface Daemon {
  /**
   * Resolves once `ask` resolves with true; it is called every 20 ms. Rejects with the last 20 lines of the log if the
   * program ends before, or after 3 minutes.
   */
  ready(what: string, ask: () => Promise<boolean>): Promise<void>;
}

const READY_MS = 180_000;
const LOOK_MS = 20;

/**
 * Starts a program that runs as long as these namespaces exist, and writes its output to the file `log`. If SIGKILL ends
 * it, it is started again, as by the init system of a node.
 */
export function startDaemon(log: string, command: readonly [string, ...string[]]): Daemon {
  mkdirSync(dirname(log), { recursive: true });
  let daemon: Bun.Subprocess;
  const start = (): void => {
    const output = openSync(log, "a");
    daemon = Bun.spawn([...command], { stdin: "ignore", stdout: output, stderr: output, onExit: restart });
    closeSync(output);
  };
  const restart = (): void => {
    if (daemon.signalCode === "SIGKILL") start();
  };
  start();
  return {
    async ready(what, ask) {
      const isReady = async (): Promise<boolean> => {
        const end = daemon.exitCode ?? daemon.signalCode;
        if (end !== null && end !== "SIGKILL") throw new Error(`${command[0]} ended with ${end}`);
        return await ask().catch(() => false);
      };
      await until(what, isReady, READY_MS, LOOK_MS).catch((error: Error) => {
        throw new Error(`${error.message}; the end of ${log}:\n${tailOf(log)}`);
      });
    },
  };
}

function tailOf(path: string): string {
  return readFileSync(path, "utf8").trim().split("\n").slice(-20).join("\n");
}

/** Runs a program to its end, and resolves with its stdout. Rejects with all that it said if it fails. */
export async function runTool(...command: readonly string[]): Promise<string> {
  const tool = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([tool.stdout.text(), tool.stderr.text()]);
  const code = await tool.exited;
  if (code !== 0) throw new Error(`${command.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
  return stdout;
}
