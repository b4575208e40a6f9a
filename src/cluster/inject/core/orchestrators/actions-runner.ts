import type { Container, Pod } from "../pod.ts";
import { labelOf, type Orchestrator, type Role } from "./orchestrator.ts";

const roles: Readonly<Record<string, Role>> = { runner: "app", dind: "sidecar" };

/**
 * GitHub's Actions Runner Controller: the pods of its runners, and the pods in which a runner in mode `kubernetes` runs a
 * job's container.
 */
export const actionsRunner = {
  name: "Actions Runner Controller",
  made: (pod) => labelOf(pod, "actions-ephemeral-runner") === "True" || isJob(pod),
  roleIn,
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read actions-runner-controller 0.14.2 controllers/actions.github.com/resourcebuilder.go:668-671; actions/runner-container-hooks 009ddc4 packages/k8s/src/hooks/constants.ts, packages/k8s/src/k8s/index.ts (createPod) | the label \`actions-ephemeral-runner: "True"\`; of a job's pod the label \`runner-pod\`, and its container \`job\`
app | read actions-runner-controller 0.14.2 apis/actions.github.com/v1alpha1/ephemeralrunner_types.go:24-26, charts/gha-runner-scale-set/values.yaml:418-420 | \`runner\`, which starts /home/runner/run.sh
sidecar | read actions-runner-controller 0.14.2 charts/gha-runner-scale-set/templates/_helpers.tpl:112-141, autoscalingrunnerset.yaml:237-259 | \`dind\`, which on Kubernetes 1.29 and later is a native one; in a job's pod its services
untouchable | read actions/runner-container-hooks 009ddc4 packages/k8s/src/hooks/prepare-job.ts (createContainerSpec), packages/k8s/src/k8s/index.ts (execPodStep) | \`job\`: its command is tail -f /dev/null, and each step is started in it by exec
wrapping | read actions-runner-controller 0.14.2 controllers/actions.github.com/ephemeralrunner_controller.go:312-392 | safe for \`runner\`: what counts is its exit code, of which 7 means outdated
end | read actions-runner-controller 0.14.2 controllers/actions.github.com/ephemeralrunner_controller.go:354-390; actions/runner-container-hooks 009ddc4 packages/k8s/src/k8s/index.ts (deletePod) | the controller deletes the pod when \`runner\` has ended; a job's pod is deleted with a grace period of 0
mesh | read actions-runner-controller 0.14.2 controllers/actions.github.com/resourcebuilder.go:700-725 | the runner needs it from its first request to the end
init | read actions-runner-controller 0.14.2 charts/gha-runner-scale-set/templates/_helpers.tpl:99-110 | none: \`init-dind-externals\` copies files
`;

function roleIn({ name }: Container, pod: Pod): Role | undefined {
  if (isJob(pod)) return name === "job" ? "untouchable" : "sidecar";
  return Object.hasOwn(roles, name) ? roles[name] : undefined;
}

function isJob(pod: Pod): boolean {
  return labelOf(pod, "runner-pod") !== undefined && pod.spec.containers.some(({ name }) => name === "job");
}
