/**
 * The flags by which each init process has a feature: empty if it always has the feature, undefined if it never has.
 */
export interface InitFeature {
  readonly tini: readonly string[] | undefined;
  readonly "dumb-init": readonly string[] | undefined;
  readonly ebb: readonly string[];
}

/**
 * The features in the manual's table for users of tini or dumb-init, by name; test/binary/run/inits.test.ts runs each.
 */
export const initFeatures = {
  "signals go only to the child": { tini: [], "dumb-init": ["--single-child"], ebb: [] },
  "signals go to the child's process group": { tini: ["-g"], "dumb-init": [], ebb: ["--signal-group"] },
  "a signal is rewritten": {
    tini: undefined,
    "dumb-init": ["--single-child", "--rewrite", "15:3"],
    ebb: ["--rewrite-signal", "TERM:QUIT"],
  },
  "a signal is dropped": {
    tini: undefined,
    "dumb-init": ["--single-child", "--rewrite", "15:0"],
    ebb: ["--rewrite-signal", "TERM:0"],
  },
  "processes left in the child's group get TERM": { tini: undefined, "dumb-init": [], ebb: ["--signal-group"] },
  "processes left in the child's group get KILL after 1 s": {
    tini: undefined,
    "dumb-init": undefined,
    ebb: ["--signal-group", "--grace", "1s"],
  },
  "an exit code becomes 0": { tini: ["-e", "143"], "dumb-init": undefined, ebb: ["--expect-exit", "143"] },
  "adopts orphans even if it is not PID 1": { tini: ["-s"], "dumb-init": undefined, ebb: [] },
  "gets a signal when its parent dies": {
    tini: ["-p", "SIGTERM"],
    "dumb-init": undefined,
    ebb: ["--parent-death", "TERM"],
  },
} as const satisfies Readonly<Record<string, InitFeature>>;

export type InitFeatureName = keyof typeof initFeatures;
