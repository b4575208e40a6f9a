import { type JsonObject, listOf, objectOf, parseObject } from "../../../../shared/core/json.ts";
import { memoizeLast } from "../../../../shared/core/memoize-last.ts";
import type { Container, Pod } from "../pod.ts";
import { envValueOf, labelOf, type Orchestrator, type Role } from "./orchestrator.ts";

/**
 * Argo Workflows. Its `argoexec emissary` starts each container but `wait`, and notes its exit code in a file; a
 * template's own sidecars end by their emissary once all main containers have ended. `wait` then uploads artifacts and
 * logs, and reports the outputs to the API server.
 */
export const argoWorkflows = {
  name: "Argo Workflows",
  made: (pod) => labelOf(pod, "workflows.argoproj.io/workflow") !== undefined,
  roleIn,
  needsMesh: ({ name }, pod) => /^init-artifact-/.test(name) || (name === "init" && hasArtifacts(pod)),
  exemption: { prefix: "workflows.argoproj.io/kill-cmd-", value: '["true"]' },
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE; ran TEST | SAYS`. */
export const facts = `
pods | read argo-workflows v4.0.5 workflow/controller/workflowpod.go:204, agent.go:201, artifact_gc.go:469 | the label \`workflows.argoproj.io/workflow\`, also on the pods of the agent and of the artifacts' garbage collection
app | read argo-workflows v4.0.5 workflow/controller/workflowpod.go:142-145, pkg/apis/workflow/v1alpha1/workflow_types.go:3417-3427; ran test/orchestrators/argo-workflows.test.ts | \`main\`, or the containers of a containerSet, whatever their names
helper | read argo-workflows v4.0.5 workflow/controller/workflowpod.go:252-259, cmd/argoexec/commands/wait.go:31-95; ran test/orchestrators/argo-workflows.test.ts | \`wait\`
sidecar | read argo-workflows v4.0.5 workflow/controller/workflowpod.go:1429-1471, cmd/argoexec/commands/emissary.go:197-225, cmd/argoexec/commands/wait.go:40-45, workflow/controller/agent.go:222-225 | the template's sidecars, \`artifact-plugin-NAME\`, and the plugins beside the agent; \`ARGO_TEMPLATE\` of an init container names the template's
wrapping | read argo-workflows v4.0.5 cmd/argoexec/commands/emissary.go:110-113,184-190, workflow/signal/signal.go:19-45, workflow/controller/pod/queue.go:55-72 | safe: nobody looks for a process by its name. The entrypoint is looked up before the pod is created. The controller signals PID 1 by \`argoexec kill\`, and ebb forwards it. As PID 1 a container outlives that kill -9; ebb's child does too, unless --grace is set: so \`wait\` gets no --grace and no --drain
end | read argo-workflows v4.0.5 workflow/controller/operator.go:1460-1486,1644-1666, workflow/controller/pod/queue.go:55-72; ran test/orchestrators/argo-workflows.test.ts | when all main containers have ended, the controller signals every container that still runs, also \`wait\` and an injected sidecar: by default with /bin/sh -c "kill -15 1" in it, while \`wait\` uploads
mesh | read argo-workflows v4.0.5 workflow/signal/signal.go:33-37, workflow/common/common.go:295; ran test/orchestrators/argo-workflows.test.ts | the annotation \`workflows.argoproj.io/kill-cmd-NAME\` replaces that signal to the container NAME: with a command that does nothing, the sidecar stays until \`wait\` has ended; without it, an upload and the task's result are lost once the sidecar has ended
init | read argo-workflows v4.0.5 workflow/controller/workflowpod.go:700-703,754-776; ran test/orchestrators/argo-workflows.test.ts | \`init\` downloads the input artifacts, \`init-artifact-NAME\` those of a plugin: with artifacts in the mesh, only a native sidecar serves them. a mesh redirects traffic only after \`init\`: beside an ordinary sidecar \`init\` asks without the mesh
`;

const EMISSARY = "/var/run/argo/argoexec";

function roleIn(container: Container, pod: Pod): Role | undefined {
  const { name, command } = container;
  if (name === "wait") return "helper";
  if (name.startsWith("artifact-plugin-")) return "sidecar";
  if (name === "main") return "app";
  if (labelOf(pod, "workflows.argoproj.io/component") === "agent") return "sidecar";
  if (command?.includes(EMISSARY) !== true) return undefined;
  return sidecarsOf(pod).has(name) ? "sidecar" : "app";
}

/**
 * Returns the names of the template's sidecars. Returns none if the template is too large for a variable: then each of
 * them counts as an app, which does no harm, because it ends after the main containers.
 */
const sidecarsOf = memoizeLast(
  (pod: Pod): ReadonlySet<unknown> =>
    new Set(listOf(templateOf(pod).sidecars).map((sidecar) => objectOf(sidecar).name)),
);

function hasArtifacts(pod: Pod): boolean {
  return listOf(objectOf(templateOf(pod).inputs).artifacts).length > 0;
}

/** Returns the pod's template; an empty object if it is too large for a variable. */
function templateOf({ spec }: Pod): JsonObject {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const template = all.map((container) => envValueOf(container, "ARGO_TEMPLATE")).find((value) => value !== undefined);
  return parseObject(template ?? "") ?? {};
}
