/** The folder of musl-dev of an architecture ("x64", "arm64"): what has lib/<triplet>/libc.a; undefined where it is nowhere. @throws Error where it is damaged */
export function muslFolder(arch: string): string | undefined;
/** Fetches musl-dev of another architecture and unpacks it in the cache. Returns undefined, or why it cannot be had. */
export function fetchMusl(arch: string): string | undefined;
