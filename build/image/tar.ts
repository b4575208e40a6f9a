export type TarEntry = {
  /** 1 to 100 printable characters of ASCII, without spaces. */
  readonly path: string;
  /** The permissions: 0o755. */
  readonly mode: number;
  readonly bytes: Uint8Array;
};

const block = 512;

/**
 * Returns a tar archive (POSIX.1-1988, ustar) of regular files that root owns. All have the time `mtime`, in seconds
 * since 1970. @throws Error if a path, size or time does not fit the format
 */
export function tarOf(entries: readonly TarEntry[], mtime: number): Uint8Array {
  const padded = (size: number): number => Math.ceil(size / block) * block;
  const archive = new Uint8Array(entries.reduce((sum, { bytes }) => sum + block + padded(bytes.length), 2 * block));
  let at = 0;
  for (const entry of entries) {
    archive.set(headerOf(entry, mtime), at);
    archive.set(entry.bytes, at + block);
    at += block + padded(entry.bytes.length);
  }
  return archive;
}

/** Compresses an archive. libdeflate writes no time into the gzip header, and the same bytes on each machine. */
export function gzip(bytes: Uint8Array): Uint8Array {
  return Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>, { library: "libdeflate", level: 9 });
}

function headerOf({ path, mode, bytes }: TarEntry, mtime: number): Uint8Array {
  if (!/^[\x21-\x7e]{1,100}$/.test(path)) throw new Error(`${path}: no name for this tar archive`);
  const header = new Uint8Array(block);
  const write = (offset: number, text: string): void => header.set(new TextEncoder().encode(text), offset);
  const octal = (offset: number, length: number, value: number): void => {
    if (value < 0) throw new Error(`${path}: ${value} is too small for this tar archive`);
    const digits = value.toString(8).padStart(length - 1, "0");
    if (digits.length >= length) throw new Error(`${path}: ${value} is too large for this tar archive`);
    write(offset, digits);
  };
  write(0, path);
  octal(100, 8, mode);
  octal(108, 8, 0); // user
  octal(116, 8, 0); // group
  octal(124, 12, bytes.length);
  octal(136, 12, mtime);
  write(148, " ".repeat(8)); // the checksum counts as these
  write(156, "0"); // a regular file
  write(257, "ustar\x0000");
  octal(
    148,
    7,
    header.reduce((sum, byte) => sum + byte, 0),
  );
  return header;
}
