/** What `ebb --licenses` prints, by zstd and in base64. Undefined in development: build/about.ts puts its own module here. */
export const texts: string | undefined = undefined;
