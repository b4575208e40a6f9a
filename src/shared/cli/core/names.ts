/** The names of ebb's commands. `src/commands.ts` has the commands themselves, and their order in `--help`. */
const commandNames = [
  ...(["run", "wait", "sleep", "drain", "quit", "request", "status", "install"] as const),
  ...(["inject", "image", "webhook", "reaper", "manifests", "doctor", "config", "completion"] as const),
] as const;

export type CommandName = (typeof commandNames)[number];

/** The first words of a call that ebb does not take for the name of a program to run. */
export const ownWords: readonly string[] = [...commandNames, "help"];

/** The names of other tools by which ebb can be started (src/compat). */
export const toolNames: readonly string[] = ["scuttle", "envoy-preflight", "linkerd-await", "valet", "pilot-agent"];

/** The names under which the executable is a plugin of kubectl, and completes it. */
export const pluginNames = { plugin: "kubectl-ebb", completion: "kubectl_complete-ebb" };

/** The names of other inits, which do nothing that ebb does not. */
export const initNames: readonly string[] = ["tini", "tini-static", "docker-init", "dumb-init", "catatonit"];

/** The variables that only commands for the cluster read: one that is set for them is no slip in another command. */
export const clusterVariables: ReadonlySet<string> = new Set(
  [
    "AFTER ALL ALLOW_REAP_EXEC ALL_JOBS CA_VALIDITY CERTIFICATE_NAMES CERTIFICATE_VALIDITY CERT_DIR CLIENT_CA CONTEXT",
    "DRY_RUN ENTRYPOINT HEALTH_LISTEN IMAGE IMAGE_PULL_POLICY KUBECONFIG LISTEN METHODS NAMESPACE ONCE PULL_SECRETS QPS",
    "REGISTRIES REGISTRY_CA REGISTRY_CONFIG REGISTRY_MIRROR SECRET SELECTOR SERVICE SET VOLUME WEBHOOK_CONFIG",
  ].flatMap((words) => words.split(" ").map((word) => `EBB_${word}`)),
);
