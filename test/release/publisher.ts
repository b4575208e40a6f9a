import { dirname, resolve } from "node:path";
import { temporaryFolder } from "../harness/ebb.ts";
import { type Registry, startRegistry } from "../image/registry.ts";
import { user } from "../image/token-server.ts";
import { compiledProgram } from "../sidecars/compile.ts";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Somebody with a registry of their own, who is logged in there, and the keys `ours` and `theirs`. */
interface Publisher extends AsyncDisposable {
  /** The folder of all that they make, with the keys: `ours.key`, `ours.pub`. */
  readonly path: string;
  readonly registry: Registry;
  /** The image's name, without a tag. */
  readonly name: string;
  /** Runs a shell's script, by default in their folder. */
  run(script: string, cwd?: string): Promise<Ended>;
  /** Runs a script, and returns its stdout. Rejects if it fails. */
  mustRun(script: string, cwd?: string): Promise<string>;
  /**
   * Does what `npm run release:push` does with the release in a folder. Signs for no transparency log, because none can
   * be reached; with our key, unless `as` sets other variables of cosign.
   */
  push(folder: string, as?: string): Promise<void>;
}

const noLog = "COSIGN_USE_SIGNING_CONFIG=false COSIGN_TLOG_UPLOAD=false";
const script = resolve(import.meta.dirname, "../../build/release/push.ts");

/** Starts the registry. `await using` it, or dispose of it. */
export async function startPublisher(): Promise<Publisher> {
  const { path, ...folder } = temporaryFolder();
  const registry = await startRegistry({ auth: "basic" });
  const tools = (["cosign", "helm"] as const).map((name) => dirname(compiledProgram(name).path));
  const PATH = [...tools, process.env.PATH ?? ""].join(":");
  const env = { PATH, HOME: path, COSIGN_PASSWORD: "", SSL_CERT_FILE: registry.ca };
  const run = async (text: string, cwd = path): Promise<Ended> => {
    // not spawnSync: this process reads the registry's log
    const child = Bun.spawn(["sh", "-c", text], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, stdout, stderr };
  };
  const mustRun = async (text: string, cwd?: string): Promise<string> => {
    const { code, stdout, stderr } = await run(text, cwd);
    if (code !== 0) throw new Error(`${text}: ${stderr}`);
    return stdout;
  };
  for (const key of ["ours", "theirs"]) await mustRun(`cosign generate-key-pair --output-key-prefix ${key}`);
  await mustRun(
    `printf %s '${user.password}' | cosign login ${registry.host} --username ${user.name} --password-stdin`,
  );
  return {
    path,
    registry,
    name: `${registry.host}/team/ebb`,
    run,
    mustRun,
    push: async (from, as = "COSIGN_KEY=ours.key") => {
      await mustRun(`${noLog} ${as} ${process.execPath} ${script} --from ${from}`);
    },
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
