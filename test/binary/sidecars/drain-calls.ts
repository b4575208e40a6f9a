/** The flags for a drain that takes at least 100 ms. */
export const quick = ["--drain", "20s", "--min-drain", "100ms"];
