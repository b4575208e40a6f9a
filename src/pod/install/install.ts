import { withoutSlashes } from "../../shared/core/address.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import { describeSystemError } from "../../shared/core/system-error.ts";
import { explainInstallError } from "./core/install.ts";

type Files = typeof import("node:fs/promises");
type File = Awaited<ReturnType<Files["open"]>>;

const BLOCK = 1024 * 1024;
const MODE = 0o755;

/** What `installSelf` has done. */
export interface Installed {
  /** The size of the executable. */
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  /** Whether `dest` was such a copy already, so that nothing was written. */
  readonly wasThere: boolean;
  /** Whether the copy can be executed at `dest`: false on a volume that is mounted noexec. */
  readonly canStart: boolean;
}

/**
 * Copies this executable to `dest`, with mode 0755. Writes a file beside it, syncs it, reads it back and renames it, so
 * that others see the former file or the whole copy. Writes nothing if `dest` is such a copy already. Rejects with
 * Failure(64) if `dest` is a folder or no regular file, with Failure(71) if the system refuses, with the signal's
 * reason if that is aborted.
 */
export async function installSelf(dest: string, signal: AbortSignal): Promise<Installed> {
  const files: Files = await import("node:fs/promises"); // few need it, and it costs a start 0.9 ms
  await refuseOccupied(files, dest);
  await using self = await openSelf(files);
  const { size } = await self.stat();
  try {
    const sha256 = await digestOf(self, signal);
    const wasThere = await isCopy(files, { dest, size, sha256, signal });
    if (!wasThere) await replace(files, { self, dest, sha256, signal });
    return { bytes: size, sha256, wasThere, canStart: await canStart(files, dest) };
  } catch (error) {
    if (signal.aborted || error instanceof Failure) throw error;
    throw await refusal(files, { error, dest, neededBytes: size });
  }
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
 * Opens ebb's executable: /proc/self/exe, which is this very program even if its file was replaced meanwhile, or
 * without /proc its path.
 */
async function openSelf(files: Files): Promise<File> {
  try {
    return await files.open("/proc/self/exe").catch(() => files.open(process.execPath));
  } catch (cause) {
    throw new Failure(EXIT.system, `install: cannot read ebb itself: ${describeSystemError(cause)}`, { cause });
  }
}

/** Returns a file's SHA-256 in hex. */
async function digestOf(file: File, signal: AbortSignal): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const block of blocksOf(file, signal)) hash.update(block);
  return hash.digest("hex");
}

/** Yields a file's blocks in one buffer, so that each is valid until the next. Between them ebb handles signals. */
async function* blocksOf(file: File, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(BLOCK);
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(block, 0, BLOCK, at);
    if (bytesRead === 0) return;
    yield block.subarray(0, bytesRead);
    at += bytesRead;
  }
}

interface Expected {
  readonly dest: string;
  readonly size: number;
  readonly sha256: string;
  readonly signal: AbortSignal;
}

/**
 * Reports whether `dest` is such a copy already. Returns false if it cannot be read: the replacement then says what is
 * wrong.
 */
async function isCopy(files: Files, { dest, size, sha256, signal }: Expected): Promise<boolean> {
  const there = await files.lstat(dest).catch(() => undefined);
  if (!there?.isFile() || there.size !== size || (there.mode & 0o7777) !== MODE) return false;
  await using file = await files.open(dest).catch(() => null);
  if (file === null) return false;
  return (await digestOf(file, signal)) === sha256;
}

interface Replacement {
  readonly self: File;
  readonly dest: string;
  readonly sha256: string;
  readonly signal: AbortSignal;
}

async function replace(files: Files, { self, dest, sha256, signal }: Replacement): Promise<void> {
  const temporary = `${folderOf(dest)}/.ebb-${crypto.randomUUID()}`;
  try {
    await copy(files, { self, temporary, signal });
    await using copied = await files.open(temporary);
    const found = await digestOf(copied, signal);
    if (found !== sha256) {
      throw new Failure(
        EXIT.system,
        `install: ${dest}: the copy differs from the original (SHA-256 ${found}); install again`,
      );
    }
    await files.rename(temporary, dest);
  } catch (error) {
    await files.unlink(temporary).catch(() => undefined); // if it could not even be made, `error` says that
    throw error;
  }
}

async function copy(files: Files, to: { self: File; temporary: string; signal: AbortSignal }): Promise<void> {
  await using file = await files.open(to.temporary, "wx", 0o600);
  for await (const block of blocksOf(to.self, to.signal)) await writeAll(file, block);
  await file.chmod(MODE); // by chmod, because a umask takes bits from the mode that open is given
  await file.sync();
}

/**
 * Writes a whole block. A nearly full volume takes a part of it first, and the next write says why it does not take the
 * rest.
 */
async function writeAll(file: File, block: Uint8Array): Promise<void> {
  for (let at = 0; at < block.length; ) at += (await file.write(block, at)).bytesWritten;
}

/**
 * Reports whether `dest` can be executed. access(2) fails with EACCES, even for root, if its volume is mounted noexec.
 */
function canStart(files: Files, dest: string): Promise<boolean> {
  return files.access(dest, files.constants.X_OK).then(
    () => true,
    () => false,
  );
}

interface Refused {
  readonly error: unknown;
  readonly dest: string;
  readonly neededBytes: number;
}

async function refusal(files: Files, { error, dest, neededBytes }: Refused): Promise<Failure> {
  const { code, message } = error as NodeJS.ErrnoException;
  const folder = folderOf(dest);
  const disk = await files.statfs(folder).catch(() => undefined);
  const freeBytes = disk === undefined ? undefined : disk.bavail * disk.bsize;
  const reason = explainInstallError({ code, message, dest, folder, neededBytes, freeBytes, uid: process.getuid?.() });
  return new Failure(EXIT.system, `install: cannot write ${reason}`, { cause: error });
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : path.slice(0, slash) || "/";
}
