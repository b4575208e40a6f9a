/** The first words of a call that ebb does not take for the name of a program to run: its commands, and `help`. */
export const commandNames: readonly string[] = [
  ...[
    "run",
    "wait",
    "sleep",
    "drain",
    "quit",
    "request",
    "status",
    "install",
    "inject",
    "webhook",
    "reaper",
    "manifests",
    "doctor",
    "config",
    "completion",
  ],
  "help",
];

/** The names of other tools by which ebb can be started (src/compat). */
export const toolNames: readonly string[] = ["scuttle", "envoy-preflight", "linkerd-await", "valet", "pilot-agent"];
