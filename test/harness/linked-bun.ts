import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { linkStatic } from "../../build/link/link-static.ts";
import { fetchBun, type Locked, lockedBun } from "../../build/link/pinned-bun.ts";
import { shrink } from "../../build/shrink/shrink.ts";
import { type Target, targetNamed } from "../../build/targets.ts";
import { verify } from "../../build/verify.ts";

/** This machine's target. */
export const host = targetNamed(process.arch);
/** The release of Bun that ebb is built with. */
export const pinned = lockedBun(host, resolve(import.meta.dirname, "../../package-lock.json"));
const sources = [resolve(import.meta.dirname, "../../build/link/glue.c")];

/** Asks npm for the newest release of Bun. @throws Error if it does not answer */
export function newestBun(): Locked {
  const words = ["view", `${host.bunPackage}@latest`, "version", "dist.integrity", "--json"];
  const { status, stdout, stderr } = spawnSync("npm", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${words.join(" ")} failed: ${stderr.trim()}`);
  const { version, "dist.integrity": integrity } = JSON.parse(stdout) as Record<string, string>;
  if (version === undefined || integrity === undefined) throw new Error(`npm: no version and digest in ${stdout}`);
  return { version, integrity };
}

/**
 * Links a release of Bun itself, without a program, as the build links ebb. Returns its bytes before and after.
 * @throws Error if it cannot be fetched or linked
 */
export function linkBun(release: Locked, target: Target = host): { input: Uint8Array; output: Uint8Array } {
  const input = new Uint8Array(readFileSync(fetchBun(target.bunPackage, release)));
  const { bytes, patches } = linkStatic({ bytes: input, name: `Bun ${release.version}`, sources, target });
  const output = shrink({ input, linked: bytes, target }).bytes;
  verify({ input, output, patches, target });
  return { input, output };
}
