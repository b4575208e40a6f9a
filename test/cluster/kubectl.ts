import { collect } from "../harness/ebb.ts";

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** The text on its stdin, as for `kubectl apply -f -`. */
  readonly stdin?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end. Resolves whatever its exit code is. */
export async function runProgram(command: readonly string[], { stdin = "", env }: KubectlOptions): Promise<Output> {
  const all = { ...process.env, ...env };
  const child = Bun.spawn([...command], { env: all, stdin: new Blob([stdin]), stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const code = await child.exited;
  await Promise.all([stdout.done, stderr.done]);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** Runs kubectl to its end, against the cluster that KUBECONFIG names. Resolves whatever its exit code is. */
export function tryKubectl(words: readonly string[], options: KubectlOptions = {}): Promise<Output> {
  return runProgram(["kubectl", ...words], options);
}

/** Runs kubectl, and resolves with its stdout. Rejects with all that it said if it fails. */
export async function kubectl(words: readonly string[], options: KubectlOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await tryKubectl(words, options);
  if (code !== 0) throw new Error(`kubectl ${words.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
  return stdout;
}
