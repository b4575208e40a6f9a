import { spawnSync } from "node:child_process";

type RunOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether its stdout is shown, and not returned. */
  readonly isShown?: boolean;
};

/** Runs a command, with its stderr shown, and returns its stdout. @throws Error with its stdout if it fails */
export function run([program = "", ...words]: readonly string[], options: RunOptions = {}): string {
  const { cwd, env = process.env, isShown = false } = options;
  const stdio = ["ignore", isShown ? "inherit" : "pipe", "inherit"] as const;
  const { error, status, signal, stdout } = spawnSync(program, words, {
    cwd,
    env,
    stdio: [...stdio],
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return stdout ?? "";
  const outcome = error?.message ?? signal ?? `exit code ${status}`;
  throw new Error(`${program} ${words.join(" ")}: ${outcome}\n${stdout ?? ""}`.trim());
}
