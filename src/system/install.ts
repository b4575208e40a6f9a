import { withoutSlashes } from "../core/base/address.ts";
import { EXIT, Failure } from "../core/run/exit.ts";
import { explainObstacle } from "../core/run/install.ts";

type Files = typeof import("node:fs/promises");
type File = Awaited<ReturnType<Files["open"]>>;

const BLOCK = 1024 * 1024;
const MODE = 0o755;

export interface Installed {
  readonly bytes: number;
  readonly sha256: string;
  /** `dest` was such a copy already: nothing was written. */
  readonly wasThere: boolean;
  /** The copy may be started from here; not so where the volume is mounted noexec. */
  readonly canStart: boolean;
}

/**
 * Copies this executable to `dest`, mode 0755: into a file beside it, synced and read back, then renamed. Others see the former
 * file or the whole copy. @throws Failure 64 where `dest` is no place for a file, 71 where the system refuses; the reason of
 * `signal` where it is aborted
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

/** Only a file or a link is ever replaced: not a folder, and not /dev/null by a slip of root's. */
async function refuseOccupied(files: Files, dest: string): Promise<void> {
  const there = await files.stat(dest).catch(() => undefined); // what is wrong with the path, the copy will say
  if (there?.isDirectory() || dest.endsWith("/")) {
    throw new Failure(EXIT.usage, `install: ${dest} is a folder; did you mean ${`${withoutSlashes(dest)}/ebb`}?`);
  }
  if (there !== undefined && !there.isFile()) {
    throw new Failure(EXIT.usage, `install: ${dest} is not a regular file: name another path`);
  }
}

/** /proc/self/exe is this very program even where its file was replaced or removed meanwhile; there may be no /proc. */
async function openSelf(files: Files): Promise<File> {
  try {
    return await files.open("/proc/self/exe").catch(() => files.open(process.execPath));
  } catch (cause) {
    throw new Failure(EXIT.system, `install: cannot read ebb itself: ${(cause as Error).message}`, { cause });
  }
}

/** Returns a file's SHA-256 in hex. */
async function digestOf(file: File, signal: AbortSignal): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const block of blocksOf(file, signal)) hash.update(block);
  return hash.digest("hex");
}

/** Yields a file's blocks in one buffer, so each is valid until the next. Between them ebb handles signals. */
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

/** False where one cannot tell: then it is replaced, or what stands in the way is told. */
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
    await files.unlink(temporary).catch(() => undefined); // where it could not even be made, that is what `error` says
    throw error;
  }
}

async function copy(files: Files, to: { self: File; temporary: string; signal: AbortSignal }): Promise<void> {
  await using file = await files.open(to.temporary, "wx", 0o600);
  for await (const block of blocksOf(to.self, to.signal)) await writeAll(file, block);
  await file.chmod(MODE); // by chmod, because a umask takes from the mode that open is given
  await file.sync();
}

/** Writes a whole block. A nearly full volume first takes a part, and says why not the rest at the next write. */
async function writeAll(file: File, block: Uint8Array): Promise<void> {
  for (let at = 0; at < block.length; ) at += (await file.write(block, at)).bytesWritten;
}

/** access(2) says EACCES even to root where nothing may be started from the file system. */
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
  const reason = explainObstacle({ code, message, dest, folder, neededBytes, freeBytes, uid: process.getuid?.() });
  return new Failure(EXIT.system, `install: cannot write ${reason}`, { cause: error });
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : path.slice(0, slash) || "/";
}
