/**
 * The text that `ebb --licenses` prints, compressed with zstd, in base64; undefined in development.
 * build/evidence/about.ts replaces this module in a build.
 */
export const texts: string | undefined = undefined;
