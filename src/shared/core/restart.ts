/** The pod's restartPolicy or the container's own, by which the kubelet restarts a container. */
export type RestartPolicy = "Always" | "OnFailure" | "Never";

/** The exit codes of a restart rule (k8s.io/api core/v1, ContainerRestartRuleOnExitCodes). */
export interface RestartCodes {
  /** `In` or `NotIn`. One that this ebb does not know is taken to match: what is in doubt counts as a restart. */
  readonly operator: string;
  readonly values?: readonly number[];
}

/** Reports whether a restart rule covers this exit code. */
export function coversExit({ operator, values = [] }: RestartCodes, exitCode: number): boolean {
  if (operator === "In") return values.includes(exitCode);
  return operator !== "NotIn" || !values.includes(exitCode);
}

/** Reports whether a restartPolicy restarts a container after this exit code. One that ebb does not know does. */
export function restartsByPolicy(policy: string, exitCode: number): boolean {
  return policy !== "Never" && (policy !== "OnFailure" || exitCode !== 0);
}

/**
 * Parses the exit codes after which the kubelet restarts a container: `42,43`, or `!0,1` for all but these. Returns
 * undefined for anything else.
 */
export function parseRestartCodes(text: string): RestartCodes | undefined {
  const [, not, list = ""] = /^(!?)(\d{1,3}(?:, *\d{1,3})*)$/.exec(text.trim()) ?? [];
  const values = list.split(",").map(Number);
  if (not === undefined || values.some((code) => code > 255)) return undefined;
  return { operator: not === "" ? "In" : "NotIn", values };
}

/** What decides whether the kubelet restarts this container. */
export interface Restarting {
  /** undefined if it is not known: then it restarts nothing. */
  readonly restartPolicy: RestartPolicy | undefined;
  /** The container's restartPolicyRules. */
  readonly restartCodes?: RestartCodes | undefined;
}

/**
 * Returns why the kubelet restarts this container after an exit code; undefined if it does not. As the kubelet decides
 * (kubernetes pkg/api/v1/pod/util.go, ContainerShouldRestart): by the rules first, then by the policy.
 */
export function whyRestarted(exitCode: number, { restartPolicy, restartCodes }: Restarting): string | undefined {
  if (restartCodes !== undefined && coversExit(restartCodes, exitCode)) return `--restart-codes, exit code ${exitCode}`;
  if (restartPolicy === undefined || !restartsByPolicy(restartPolicy, exitCode)) return undefined;
  return restartPolicy === "Always" ? "restartPolicy Always" : `restartPolicy OnFailure, exit code ${exitCode}`;
}

/** How ebb can end without having said so: a bug (70), refused by the system (71), a fault in Bun, SIGKILL. */
const crashCodes = [70, 71, 128 + 4, 128 + 5, 128 + 6, 128 + 7, 128 + 8, 128 + 9, 128 + 11, 128 + 31];

/** Reports whether the kubelet may restart this container after a crash of ebb. */
export function mayRestartAfterCrash(restarting: Restarting): boolean {
  return crashCodes.some((code) => whyRestarted(code, restarting) !== undefined);
}
