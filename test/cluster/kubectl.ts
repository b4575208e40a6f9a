import { collect } from "../harness.ts";

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** The text on its stdin, as for `kubectl apply -f -`. */
  readonly stdin?: string;
}

/** Runs kubectl to its end, against the cluster that KUBECONFIG names. Resolves whatever its exit code is. */
export async function tryKubectl(words: readonly string[], { stdin = "" }: KubectlOptions = {}): Promise<Output> {
  const child = Bun.spawn(["kubectl", ...words], { stdin: new Blob([stdin]), stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const code = await child.exited;
  await Promise.all([stdout.done, stderr.done]);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** Runs kubectl, and resolves with its stdout. Rejects with all that it said if it fails. */
export async function kubectl(words: readonly string[], options: KubectlOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await tryKubectl(words, options);
  if (code !== 0) throw new Error(`kubectl ${words.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
  return stdout;
}
