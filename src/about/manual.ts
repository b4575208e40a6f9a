/**
 * The pages of src/manual as a JSON object of Markdown by topic, compressed with zstd, in base64; undefined in
 * development. build/evidence/about.ts replaces this module in a build.
 */
export const manual: string | undefined = undefined;
