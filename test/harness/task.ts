import { join } from "node:path";

/** Ends this process with the code that `main` resolves with; with 1, and why in one line, if it rejects. */
export async function runTask(name: string, main: () => Promise<number>): Promise<never> {
  try {
    process.exit(await main());
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}

/** Runs a command in the project's folder, at this terminal, and resolves with its exit code. */
export async function runHere(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  const cwd = join(import.meta.dirname, "../..");
  return await Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["inherit", "inherit", "inherit"],
  }).exited;
}
