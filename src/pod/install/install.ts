import { withoutSlashes } from "../../shared/core/address.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import { describeSystemError } from "../../shared/core/system-error.ts";
import { explainInstallError, type InstallError } from "./core/install.ts";

type Files = typeof import("node:fs/promises");

/** What `installSelf` has done. */
interface InstalledCopy {
  /** The size of the executable. */
  readonly bytes: number;
  /** Whether the copy can be executed at `dest`: false on a volume that is mounted noexec. */
  readonly canStart: boolean;
}

/**
 * Copies this executable to a file beside `dest`, and renames that: others see the former file or the whole copy, with
 * mode 0755. Rejects with Failure(64) if `dest` is a folder or no regular file, with Failure(71) if the system refuses.
 * Nothing cuts a copy short: if `signal` is aborted meanwhile, it then rejects with the reason.
 */
export async function installSelf(dest: string, signal: AbortSignal): Promise<InstalledCopy> {
  const files: Files = await import("node:fs/promises"); // few need it, and it costs a start 0.9 ms
  await refuseOccupied(files, dest);
  const self = await readableSelf(files);
  const { size: bytes } = await files.stat(self);
  const slash = dest.lastIndexOf("/");
  const folder = slash < 0 ? "." : dest.slice(0, slash) || "/";
  const temporary = `${folder}/.ebb-${crypto.randomUUID()}`;
  try {
    await files.copyFile(self, temporary);
    signal.throwIfAborted();
    await using copy = await files.open(temporary);
    await copy.chmod(0o755); // it has the mode of this executable, such as 0555
    await files.rename(temporary, dest);
  } catch (error) {
    await files.unlink(temporary).catch(() => undefined); // if it could not even be made, `error` says that
    throw signal.aborted ? error : await refusal(files, { error, dest, folder, neededBytes: bytes });
  }
  return { bytes, canStart: await canStart(files, dest) };
}

/**
 * Rejects with Failure(64) unless `dest` is free, a file or a link to one: not a folder, and not /dev/null by a slip of
 * root's.
 */
async function refuseOccupied(files: Files, dest: string): Promise<void> {
  const there = await files.stat(dest).catch(() => undefined); // the copy will say what is wrong with the path
  if (there?.isDirectory() || dest.endsWith("/")) {
    throw new Failure(EXIT.usage, `install: ${dest} is a folder; did you mean ${`${withoutSlashes(dest)}/ebb`}?`);
  }
  if (there !== undefined && !there.isFile()) {
    throw new Failure(EXIT.usage, `install: ${dest} is not a regular file: name another path`);
  }
}

/**
 * Returns a path of ebb's executable: /proc/self/exe, which opens this very program even if its file was replaced
 * meanwhile, or without /proc the file's.
 */
async function readableSelf(files: Files): Promise<string> {
  const readable = (path: string) => files.access(path, files.constants.R_OK).then(() => path);
  try {
    return await readable("/proc/self/exe").catch(() => readable(process.execPath));
  } catch (cause) {
    throw new Failure(EXIT.system, `install: cannot read ebb itself: ${describeSystemError(cause)}`, { cause });
  }
}

/** access(2) fails with EACCES, even for root, if the volume of `dest` is mounted noexec. */
function canStart(files: Files, dest: string): Promise<boolean> {
  return files.access(dest, files.constants.X_OK).then(
    () => true,
    () => false,
  );
}

type Refused = { readonly error: unknown } & Pick<InstallError, "dest" | "folder" | "neededBytes">;

async function refusal(files: Files, { error, folder, ...asked }: Refused): Promise<Failure> {
  const { code, message } = error as NodeJS.ErrnoException;
  const disk = await files.statfs(folder).catch(() => undefined);
  const freeBytes = disk && disk.bavail * disk.bsize;
  const reason = explainInstallError({ ...asked, code, message, folder, freeBytes, uid: process.getuid?.() });
  return new Failure(EXIT.system, `install: cannot write ${reason}`, { cause: error });
}
