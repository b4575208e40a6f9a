import { labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * Tekton Pipelines. All steps start together; /tekton/bin/entrypoint in each waits for a file that the step before
 * writes. When the TaskRun has ended, the controller replaces the image of each other running container by one that does
 * nothing.
 */
export const tekton = {
  name: "Tekton",
  made: (pod) => labelOf(pod, "tekton.dev/taskRun") !== undefined,
  roleIn: ({ name }) => {
    if (name.startsWith("step-")) return "app";
    return name.startsWith("sidecar-") ? "sidecar" : undefined;
  },
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read tektoncd/pipeline v1.15.0 pkg/pod/pod.go:587-592 | the label \`tekton.dev/taskRun\`, which no label of the TaskRun overrides
app | read tektoncd/pipeline v1.15.0 pkg/pod/entrypoint.go:60,381-383, pkg/pod/pod.go:403-405 | \`step-NAME\`
sidecar | read tektoncd/pipeline v1.15.0 pkg/pod/entrypoint.go:61,275-309, pkg/pod/pod.go:483,491 | \`sidecar-NAME\`: its image is replaced, so its command must stay
wrapping | read tektoncd/pipeline v1.15.0 pkg/pod/entrypoint.go:196-208, cmd/entrypoint/runner.go:73-156 | safe: steps are told by their names, each has a command, and the entrypoint forwards signals to a process group of its own. The result is a file, /tekton/termination, which nobody but the entrypoint may write
end | read tektoncd/pipeline v1.15.0 pkg/pod/entrypoint.go:286-301,333-367 | a failed step ends those after it. With the last step the TaskRun is done, and what still runs, also an injected sidecar, gets the image \`nop\`
mesh | read tektoncd/pipeline v1.15.0 pkg/pod/pod.go:600-609, pkg/pod/entrypoint.go:136-142 | only the steps need it; with \`running-in-environment-with-injected-sidecars\` the first waits until every other container is ready
init | read tektoncd/pipeline v1.15.0 pkg/pod/pod.go:87-91,248-270 | none: \`prepare\`, \`place-scripts\` and \`working-dir-initializer\` copy files
`;
