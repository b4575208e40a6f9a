import { labelOf, type Orchestrator, type Role } from "./orchestrator.ts";

const roles: Readonly<Record<string, Role>> = { build: "app", helper: "helper" };

/**
 * GitLab Runner's Kubernetes executor. A shell in `build` and one in `helper` (clone, cache, artifacts) read commands
 * from their stdin, to which the runner attaches. Neither ends by itself: the runner deletes the pod.
 */
export const gitlabRunner = {
  name: "GitLab Runner",
  made: (pod) => labelOf(pod, "job.runner.gitlab.com/pod") !== undefined,
  roleIn: ({ name }) => (Object.hasOwn(roles, name) ? roles[name] : "sidecar"),
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:2333-2349 | the label \`job.runner.gitlab.com/pod\`, which users cannot set
app | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:63,2568-2592, steps_pod.go:312-316 | \`build\`
helper | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:64,1156-1158,2594-2614 | \`helper\`: it clones before \`build\` and uploads after it
sidecar | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:2445-2473,3406-3435 | the services: \`svc-N\`, or a service's alias
wrapping | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:1018-1040,1554-1611,2788-2797,3237-3283 | safe: stdin passes through, and the runner itself can put dumb-init there. A cancelled stage is found by its script's path, which is in no command of a container. A shell that is PID 1 ignores SIGTERM, and one under an init ends by it: so an eviction ends a job at once, not after the grace period
end | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:1496-1552 | the runner deletes the pod
mesh | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:1131-1139,942-955 | the runner attaches as soon as the pod runs, and what it writes waits in stdin until ebb has started the shell. With the flag for the legacy strategy it starts shells of its own, which do not wait
init | read gitlab-runner v19.3.0 executors/kubernetes/kubernetes.go:1105-1129, steps_pod.go:128-147 | none: \`init-permissions\`, \`init-build-uid-gid-collector\` and \`init-steps-bootstrap\` write files
`;
