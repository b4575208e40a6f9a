import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../targets.ts";

type EmptyRootRun = {
  /** How it was run, in words: `in an empty root folder`. */
  readonly how: string;
  /** Its standard output; empty if it was not run. */
  readonly stdout: string;
};

/**
 * Runs an executable whose file system holds nothing else, or as near to that as this machine allows. An executable of
 * another architecture runs in the target's emulator; without that it is not run. @throws Error if it ends with a
 * signal or an exit code other than 0, or has not ended after 60 s
 */
export function runInEmptyRoot(path: string, commandArguments: readonly string[], target: Target): EmptyRootRun {
  const emulator = emulatorFor(target);
  if (emulator === "missing")
    return { how: `not run: this is no ${target.arch} machine and has no ${target.emulator}`, stdout: "" };
  const root = mkdtempSync(join(tmpdir(), "ebb-root-"));
  try {
    copyFileSync(path, join(root, "ebb"));
    if (emulator !== undefined) copyFileSync(emulator, join(root, "emulator"));
    const inside = [...(emulator === undefined ? [] : ["/emulator"]), "/ebb", ...commandArguments];
    return runIn(root, inside);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Returns the emulator's path, `missing`, or undefined if this machine needs none. */
function emulatorFor(target: Target): string | undefined {
  if (target.arch === process.arch) return undefined;
  const { stdout } = spawnSync("sh", ["-c", `command -v ${target.emulator}`], { encoding: "utf8" });
  return stdout.trim() || "missing";
}

function runIn(root: string, inside: readonly string[]): EmptyRootRun {
  if (process.getuid?.() === 0) return attempt("in an empty root folder", ["chroot", root, ...inside], root);
  const canUnshare = spawnSync("unshare", ["-r", "true"]).status === 0;
  if (canUnshare)
    return attempt("in an empty root folder of a user namespace", ["unshare", "-r", "chroot", root, ...inside], root);
  const plain = inside.map((part) => (part.startsWith("/") ? join(root, part) : part));
  return attempt("NOT in an empty root folder (neither root nor user namespaces here)", plain, root);
}

function attempt(how: string, [command = "", ...rest]: readonly string[], cwd: string): EmptyRootRun {
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
  const { error, status, signal, stdout, stderr } = spawnSync(command, rest, {
    cwd,
    env,
    encoding: "utf8",
    timeout: 60_000,
  });
  if (error === undefined && status === 0) return { how, stdout };
  const outcome = error?.message ?? (signal === null ? `exit code ${status}` : `signal ${signal}`);
  throw new Error(`the executable does not run ${how}: ${outcome}\n${stdout}${stderr}`.trim());
}
