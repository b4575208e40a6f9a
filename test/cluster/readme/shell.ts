import { chmod, copyFile, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collect, ebbPath } from "../../harness/ebb.ts";
import type { Output } from "../kubectl.ts";

/** A folder in which the README's commands run as somebody types them: with ebb in PATH. */
export interface Shell extends AsyncDisposable {
  readonly folder: string;
  /** Runs lines in sh, which stops at the first that fails. Rejects with all that they said if one fails. */
  run(lines: string): Promise<Output>;
  /** Runs lines in sh, and resolves with exit code and output. */
  tryRun(lines: string): Promise<Output>;
}

/** Creates such a folder, with a kubeconfig whose namespace is `namespace`: kubectl and ebb use it if none is named. */
export async function startShell(namespace: string): Promise<Shell> {
  const folder = await mkdtemp(join(tmpdir(), "ebb-readme-"));
  const kubeconfig = join(folder, "kubeconfig");
  await copyFile(process.env.KUBECONFIG ?? "", kubeconfig);
  await chmod(kubeconfig, 0o600);
  await symlink(ebbPath, join(folder, "ebb"));
  const starting = Object.entries(process.env).filter(([name]) => !name.startsWith("EBB_")); // those of the tests
  const env = { ...Object.fromEntries(starting), KUBECONFIG: kubeconfig, PATH: `${folder}:${process.env.PATH}` };
  const tryRun = async (lines: string): Promise<Output> => {
    const script = join(folder, "script.sh");
    await writeFile(script, `set -eu\n${lines}\n`);
    const child = Bun.spawn(["sh", script], { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const code = await child.exited;
    await Promise.all([stdout.done, stderr.done]);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  const run = async (lines: string): Promise<Output> => {
    const output = await tryRun(lines);
    if (output.code !== 0) throw new Error(`exit code ${output.code}: ${lines}\n${output.stdout}${output.stderr}`);
    return output;
  };
  await run(`kubectl config set-context --current --namespace ${namespace}`);
  return { folder, run, tryRun, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
