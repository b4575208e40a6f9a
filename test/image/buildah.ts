import { dirname, join } from "node:path";
import { isInPath } from "../../build/setup/packages.mjs";
import { collect, temporaryFolder } from "../harness/ebb.ts";
import type { Registry } from "./registry.ts";
import { user } from "./token-server.ts";

/** Says what this machine lacks to build images; undefined if it can. */
export function buildahMissing(): string | undefined {
  if (process.getuid?.() !== 0) return "root";
  return isInPath("buildah") ? undefined : "buildah";
}

/** How an image is built. */
interface BuildOptions {
  readonly format?: "oci" | "docker";
  /** Dockerfiles by platform: `linux/amd64`. */
  readonly platforms: Readonly<Record<string, string>>;
  /** The folder of the files that the Dockerfiles copy; by default they have none. */
  readonly context?: string;
}

/** Builds images, and pushes them to registries. It keeps them in a folder of its own. */
interface Buildah extends Disposable {
  /** Builds an image of each Dockerfile, which may name images of the same registry, and pushes it under this name, as an index if there are several. */
  push(registry: Registry, name: string, options: BuildOptions): Promise<void>;
}

/** Makes a place for images of buildah's, apart from the machine's own. */
export function createBuildah(): Buildah {
  const folder = temporaryFolder();
  const storage = [
    "--root",
    join(folder.path, "root"),
    "--runroot",
    join(folder.path, "run"),
    "--storage-driver",
    "vfs",
  ];
  // not spawnSync: the registry's tokens may come from this process
  const run = async (words: readonly string[], input = ""): Promise<void> => {
    const command = ["buildah", ...storage, ...words];
    const child = Bun.spawn(command, { stdin: new Blob([input]), stdout: "ignore", stderr: "pipe" });
    const stderr = collect(child.stderr);
    await Promise.all([child.exited, stderr.done]);
    if (child.exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.text()}`);
  };
  let count = 0;
  return {
    async push({ host, ca }, name, { format = "oci", platforms, context = folder.path }) {
      const built = `localhost/image-${count++}`;
      const access = ["--cert-dir", dirname(ca), "--creds", `${user.name}:${user.password}`];
      const build = (platform: string, dockerfile: string, target: readonly string[]) => {
        const words = ["bud", "--format", format, "--platform", platform, ...access, ...target, "-f", "-", context];
        return run(words, dockerfile);
      };
      const to = [...access, built, `docker://${host}/${name}`];
      const entries = Object.entries(platforms);
      const [[platform, dockerfile] = ["", ""], ...others] = entries;
      if (others.length === 0) {
        await build(platform, dockerfile, ["-t", built]);
        return await run(["push", ...to]);
      }
      await run(["manifest", "create", built]);
      for (const [each, text] of entries) await build(each, text, ["--manifest", built]);
      await run(["manifest", "push", "--all", ...to]);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
