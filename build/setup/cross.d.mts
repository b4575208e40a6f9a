/**
 * Returns the folder of musl-dev for an architecture ("x64", "arm64"), in which lib/<triplet>/libc.a is, or undefined
 * if it is not installed. @throws Error if the one in the cache is damaged
 */
export function muslFolder(arch: string): string | undefined;
/** Fetches musl-dev for another architecture and unpacks it in the cache. Returns undefined, or why it failed. */
export function fetchMusl(arch: string): string | undefined;
