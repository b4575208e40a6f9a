import type { Container } from "../pod.ts";
import { envValueOf, labelOf, type Orchestrator, type Role } from "./orchestrator.ts";

/**
 * Buildkite's agent-stack-k8s. `agent` takes the job, and tells `checkout` and the command containers by a socket when to
 * start; it uploads their logs, and ends after them.
 */
export const buildkite = {
  name: "Buildkite",
  made: (pod) => labelOf(pod, "buildkite.com/job-uuid") !== undefined,
  roleIn,
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read agent-stack-k8s v0.47.0 internal/controller/scheduler/scheduler.go:315,350, internal/controller/config/config.go:14 | the label \`buildkite.com/job-uuid\`, which users cannot set
app | read agent-stack-k8s v0.47.0 internal/controller/scheduler/scheduler.go:399-496,1025-1050 | \`checkout\`, and the command containers, whatever their names: \`BUILDKITE_BOOTSTRAP_PHASES\` is set in each
helper | read agent-stack-k8s v0.47.0 internal/controller/scheduler/scheduler.go:539-642; buildkite/agent v3.136.2 kubernetes/runner.go:104-157 | \`agent\`, which has no command
sidecar | read agent-stack-k8s v0.47.0 internal/controller/scheduler/scheduler.go:498-522,884-892, completions.go:102-148 | what a patch of the pod adds. Those of the pipeline are native ones
wrapping | read agent-stack-k8s v0.47.0 internal/controller/scheduler/scheduler.go:50-53,413-417; buildkite/agent v3.136.2 clicommand/kubernetes_bootstrap.go:75-93,235-290 | safe: the containers find each other by a socket, not by processes. tini-static, with which a command starts, says that it is not PID 1, and goes on. kubernetes-bootstrap ignores SIGTERM and waits for \`agent\`
end | read agent-stack-k8s v0.47.0 internal/controller/scheduler/completions.go:102-148, cmd/controller/flags.go:164 | when \`agent\` has ended and another container still runs, also an injected sidecar, the Job gets the grace period as its activeDeadlineSeconds, and so fails
mesh | read buildkite/agent v3.136.2 clicommand/kubernetes_bootstrap.go:83-93, kubernetes/runner.go:159-183 | \`agent\` needs it from first to last; each of the others waits 120 s for the socket of \`agent\`
init | read agent-stack-k8s v0.47.0 internal/controller/scheduler/scheduler.go:696-745,942-1023 | none: \`copy-agent\` copies files, \`imagecheck-N\` pull images
`;

function roleIn(container: Container): Role {
  if (container.name === "agent") return "helper";
  return envValueOf(container, "BUILDKITE_BOOTSTRAP_PHASES") === undefined ? "sidecar" : "app";
}
