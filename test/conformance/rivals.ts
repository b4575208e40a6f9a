/** The tools whose place ebb takes, under their names. */
export const toolNames = ["scuttle", "envoy-preflight", "linkerd-await", "valet", "pilot-agent"] as const;

export type ToolName = (typeof toolNames)[number];

/** The programs that cases can be run against: two of them are called scuttle. */
export const rivals = ["scuttle", "scuttle-redbox", "envoy-preflight", "linkerd-await", "pilot-agent"] as const;

export type Rival = (typeof rivals)[number];
