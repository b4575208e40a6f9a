import { closeSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

interface ImageFile {
  /** The path from the image's root: `/ebb`. */
  readonly path: string;
  /** The size in bytes. */
  readonly size: number;
  /** Whether it is an ELF file. A script is no program without one that reads it. */
  readonly isProgram: boolean;
}

/** Lists all regular files in the root folder of an image. */
export function filesOf(root: string): readonly ImageFile[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((path) => ({ path: `/${path}`, here: join(root, path) }))
    .filter(({ here }) => lstatSync(here).isFile())
    .map(({ path, here }) => ({ path, size: lstatSync(here).size, isProgram: isElf(here) }));
}

function isElf(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(4);
    return readSync(file, bytes) === bytes.length && bytes.toString("latin1") === "\x7fELF";
  } finally {
    closeSync(file);
  }
}
