import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isatty } from "node:tty";
import { EXIT, Failure, INPUT_EXIT } from "../../shared/core/exit.ts";
import { cannotAccess } from "../../shared/core/system-error.ts";
import { MiB, readPathWithin, readStdinWithin } from "../../shared/io/input.ts";

/** The text of a file with manifests, or of stdin. */
export interface ManifestFile {
  /** Its name in messages. */
  readonly name: string;
  /** Undefined for stdin. */
  readonly path: string | undefined;
  readonly text: string;
}

const STDIN = "-";
/** The most bytes of a file, or of stdin. The largest bundles of manifests have some 10 MB. */
const MOST_BYTES = 256 * MiB;

/**
 * Reads manifests: files; folders, as kubectl does (.yaml, .yml and .json, subfolders only if `isRecursive`); and stdin
 * for `-` or without a path.
 * @throws Failure that names what cannot be read (71), is no UTF-8 (65), is a folder without manifests, or a terminal
 * (64)
 */
export async function readSources(paths: readonly string[], isRecursive: boolean): Promise<readonly ManifestFile[]> {
  if (paths.length === 0 && isatty(0)) {
    throw new Failure(EXIT.usage, "inject: expected manifests on stdin, or -f FILE");
  }
  const files = paths.length === 0 ? [STDIN] : paths.flatMap((path) => filesIn(path, isRecursive));
  const sources: ManifestFile[] = [];
  for (const path of new Set(files)) {
    if (path === STDIN) {
      const bytes = await readStdinWithin(MOST_BYTES).catch(refuse("stdin"));
      sources.push({ name: "stdin", path: undefined, text: decode("stdin", bytes) });
    } else {
      const bytes = await readPathWithin(path, MOST_BYTES).catch(refuse(path));
      sources.push({ name: path, path, text: decode(path, bytes) });
    }
  }
  return sources;
}

/**
 * Replaces a file's text, whole or not at all: writes another file beside it, syncs and renames that. Follows links,
 * and keeps the mode.
 * @throws Failure(71) if it cannot
 */
export function replaceFile(path: string, text: string): void {
  attempt(path, () => {
    const file = realpathSync(path);
    const { mode, isFile } = describe(file);
    if (!isFile) throw new Error("--in-place: expected a regular file");
    const temporary = join(dirname(file), `.${basename(file)}.${process.pid}`);
    rmSync(temporary, { force: true }); // of one that was killed: process ids come again
    try {
      const descriptor = openSync(temporary, "wx", mode);
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
      closeSync(descriptor);
      renameSync(temporary, file);
    } finally {
      rmSync(temporary, { force: true });
    }
  });
}

function describe(file: string): { readonly mode: number; readonly isFile: boolean } {
  const status = statSync(file);
  return { mode: status.mode, isFile: status.isFile() };
}

/** The endings of files that kubectl reads in folders (k8s.io/cli-runtime, resource/builder.go). */
const ENDINGS = /\.(json|ya?ml)$/;

function filesIn(path: string, isRecursive: boolean): readonly string[] {
  if (path === STDIN || !attempt(path, () => statSync(path)).isDirectory()) return [path];
  const files = manifestsIn(path, isRecursive);
  if (files.length === 0) throw new Failure(EXIT.usage, `${path}: no file here ends with .yaml, .yml or .json`);
  return files;
}

function manifestsIn(folder: string, isRecursive: boolean): readonly string[] {
  const entries = attempt(folder, () => readdirSync(folder, { withFileTypes: true }));
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return ENDINGS.test(entry.name) ? [path] : [];
    return isRecursive ? manifestsIn(path, isRecursive) : [];
  });
}

function decode(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure(INPUT_EXIT, `${name}: not UTF-8 text`);
  }
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    return refuse(path)(error);
  }
}

function refuse(path: string): (error: unknown) => never {
  return (error) => {
    throw cannotAccess(path, error);
  };
}
