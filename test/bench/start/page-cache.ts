import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync, fsyncSync, openSync, statSync } from "node:fs";

const page = 0x1000;
const dontNeed = 4; // POSIX_FADV_DONTNEED
const { i32, u64, ptr: pointer } = FFIType;

const { symbols: libc } = dlopen("libc.so.6", {
  posix_fadvise: { args: [i32, u64, u64, i32], returns: i32 },
  mmap: { args: [u64, u64, i32, i32, i32, u64], returns: u64 },
  mincore: { args: [u64, u64, pointer], returns: i32 },
  munmap: { args: [u64, u64], returns: i32 },
});

/**
 * Removes a file from the page cache. The kernel keeps pages that a process has mapped or that are being read, so it
 * tries for 5 s. Rejects if a page is there after that.
 */
export async function dropPages(path: string): Promise<void> {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
    for (let attempt = 0; residentPages(path).includes(1); attempt++) {
      if (attempt === 500) throw new Error(`${path} stays in the page cache`);
      libc.posix_fadvise(descriptor, 0n, 0n, dontNeed);
      await Bun.sleep(attempt === 0 ? 0 : 10);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns, for each page of 4 KiB of a file, 1 if it is in the page cache, otherwise 0. @throws Error if the kernel
 * refuses
 */
export function residentPages(path: string): Uint8Array {
  const { size } = statSync(path);
  const descriptor = openSync(path, "r");
  const address = BigInt(libc.mmap(0n, BigInt(size), 1, 1, descriptor, 0n)); // PROT_READ, MAP_SHARED
  closeSync(descriptor);
  const pages = new Uint8Array(Math.ceil(size / page));
  const status = libc.mincore(address, BigInt(size), ptr(pages));
  libc.munmap(address, BigInt(size));
  if (status !== 0) throw new Error(`${path}: mincore failed`);
  return pages.map((flags) => flags & 1);
}
