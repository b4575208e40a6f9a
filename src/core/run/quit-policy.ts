export type QuitOn = "always" | "success" | "never";
export type RestartPolicy = "Always" | "OnFailure" | "Never";

export interface QuitPolicy {
  readonly quitOn: QuitOn;
  readonly restartPolicy: RestartPolicy | undefined;
}

/** From inside a pod nothing tells which of the two it is. */
const KUBELET = "the kubelet restarts this container; if the pod is being deleted, the kubelet stops the sidecars";

/**
 * Returns why the sidecars are kept after this exit code; undefined where they are to quit. A container that the kubelet starts
 * again needs them: `Always` restarts after any exit, `OnFailure` after any but 0.
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
