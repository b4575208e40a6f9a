/** The pages of src/manual, by topic, as JSON by zstd and in base64. Undefined in development: build/evidence/about.ts puts its own module here. */
export const manual: string | undefined = undefined;
