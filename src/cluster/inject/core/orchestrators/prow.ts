import type { Container } from "../pod.ts";
import { envValueOf, labelOf, type Orchestrator, type Role } from "./orchestrator.ts";

/**
 * Prow. In a decorated job, /tools/entrypoint starts the test and writes its exit code to a file; `sidecar` waits for that
 * file, and uploads logs and artifacts.
 */
export const prow = {
  name: "Prow",
  made: (pod) => labelOf(pod, "created-by-prow") === "true",
  roleIn,
  needsMesh: ({ name }) => name === "clonerefs" || name === "initupload",
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read kubernetes-sigs/prow a619408 pkg/pod-utils/decorate/podspec.go:105-114, pkg/kube/prowjob.go:25 | the label \`created-by-prow: "true"\`
app | read kubernetes-sigs/prow a619408 pkg/pod-utils/decorate/podspec.go:206-224,539-566,779-794 | the containers of the job, in which \`ENTRYPOINT_OPTIONS\` is set; a single one is called \`test\`. In a job without decoration the usual rules decide
helper | read kubernetes-sigs/prow a619408 pkg/pod-utils/decorate/podspec.go:903-951, pkg/sidecar/run.go:93-156 | \`sidecar\`, which has \`SIDECAR_OPTIONS\` and no command: it ends when it has uploaded
wrapping | read kubernetes-sigs/prow a619408 pkg/entrypoint/run.go:96-272, pkg/sidecar/run.go:64-156 | safe: both look at files, and at no process but their child. The uploaded log is what the test writes, without ebb's lines; \`terminationMessagePolicy\` shows the end of the container's log, in which ebb writes too
end | read kubernetes-sigs/prow a619408 pkg/plank/reconciler.go:528-619 | the phase of the pod is the result; a pod that a sidecar keeps running is deleted after \`pod_running_timeout\`, and the job is aborted
mesh | read kubernetes-sigs/prow a619408 pkg/sidecar/run.go:93-156 | \`sidecar\` needs it until it has uploaded, after the test
init | read kubernetes-sigs/prow a619408 pkg/pod-utils/decorate/podspec.go:408-506,630-662,734-753 | \`clonerefs\` clones, and \`initupload\` uploads
`;

function roleIn(container: Container): Role | undefined {
  if (envValueOf(container, "ENTRYPOINT_OPTIONS") !== undefined) return "app";
  return envValueOf(container, "SIDECAR_OPTIONS") === undefined ? undefined : "helper";
}
