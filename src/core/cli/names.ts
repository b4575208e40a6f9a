/** The first words that are not a program's name: the commands, and `help`. */
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

/** The tools in whose names ebb can be started (src/personalities). */
export const toolNames: readonly string[] = ["scuttle", "envoy-preflight", "linkerd-await", "valet", "pilot-agent"];
