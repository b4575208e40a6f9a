/** `--quit-on`: after which exits of the child the sidecars are told to quit. `success` is exit code 0. */
export type QuitOn = "always" | "success" | "never";
/** The pod's restartPolicy, by which the kubelet restarts a container. */
export type RestartPolicy = "Always" | "OnFailure" | "Never";

export interface QuitPolicy {
  readonly quitOn: QuitOn;
  /** undefined if it is not known: then it keeps no sidecar. */
  readonly restartPolicy: RestartPolicy | undefined;
}

/** Both cases, because nothing inside a pod tells which of them it is. */
const KUBELET = "the kubelet restarts this container; if the pod is being deleted, the kubelet stops the sidecars";

/**
 * Returns the reason to keep the sidecars after the child's exit code, or undefined if they are to quit. A container
 * that the kubelet restarts needs them: `Always` restarts after any exit, `OnFailure` after any but 0.
 */
export function reasonToStay(exitCode: number, policy: QuitPolicy): string | undefined {
  if (policy.quitOn === "never") return "--quit-on never";
  if (policy.quitOn === "success" && exitCode !== 0) return `--quit-on success, and the exit code is ${exitCode}`;
  if (policy.restartPolicy === "Always") return `restartPolicy Always: ${KUBELET}`;
  if (policy.restartPolicy === "OnFailure" && exitCode !== 0) {
    return `restartPolicy OnFailure, exit code ${exitCode}: ${KUBELET}`;
  }
  return undefined;
}
