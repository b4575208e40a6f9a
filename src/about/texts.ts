/** What `ebb --licenses` prints, by zstd and in base64. Undefined in development: build/evidence/about.ts puts its own module here. */
export const texts: string | undefined = undefined;
