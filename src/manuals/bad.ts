/** The exit code of a call that cannot be meant. */
export const bad = ["64", "an unknown flag, or a bad value"] as const;
