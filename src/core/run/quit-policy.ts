export type QuitOn = "always" | "success" | "never";
export type RestartPolicy = "Always" | "OnFailure" | "Never";

export interface QuitPolicy {
  readonly quitOn: QuitOn;
  readonly restartPolicy: RestartPolicy | undefined;
}

/**
 * Why the sidecars stay, or undefined when they are to quit. A container that the kubelet will start again needs its
 * sidecars: `Always` restarts after any exit, `OnFailure` after any but 0.
 */
export function reasonToStay(exitCode: number, policy: QuitPolicy): string | undefined {
  if (policy.quitOn === "never") return "--quit-on never";
  if (policy.quitOn === "success" && exitCode !== 0) return `--quit-on success, and the exit code is ${exitCode}`;
  if (policy.restartPolicy === "Always")
    return "the kubelet restarts this container, unless its pod is being deleted (restartPolicy Always)";
  if (policy.restartPolicy === "OnFailure" && exitCode !== 0) {
    return `the kubelet restarts this container, unless its pod is being deleted (restartPolicy OnFailure, exit code ${exitCode})`;
  }
  return undefined;
}
