import { argoWorkflows } from "./argo-workflows.ts";
import { labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * Kubeflow Pipelines, version 2: each task is a pod of Argo Workflows. In `main` its launcher downloads the input
 * artifacts, starts the task's command, and uploads the outputs before it ends.
 */
export const kubeflowPipelines = {
  ...argoWorkflows,
  name: "Kubeflow Pipelines",
  made: (pod) => labelOf(pod, "pipelines.kubeflow.org/v2_component") === "true",
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read kubeflow/pipelines 2.17.0 backend/src/v2/compiler/argocompiler/argo.go:167-174 | the label \`pipelines.kubeflow.org/v2_component: "true"\`, on drivers, too
app | read kubeflow/pipelines 2.17.0 backend/src/v2/driver/driver.go:320-337,454-461 | \`main\`, which starts /kfp-launcher/launch; in a driver's pod the driver itself
helper | read kubeflow/pipelines 2.17.0 backend/src/v2/compiler/argocompiler/container.go:451-569 | Argo's \`wait\`
wrapping | read kubeflow/pipelines 2.17.0 backend/src/v2/component/launcher_v2.go:706-717 | safe: the launcher starts the command as a child, and looks at nothing around itself
end | read kubeflow/pipelines 2.17.0 backend/src/v2/compiler/argocompiler/container.go:451-569 | as in Argo Workflows
mesh | read kubeflow/pipelines 2.17.0 backend/src/apiserver/template/v2_template.go:170,410 | each template gets \`sidecar.istio.io/inject: "false"\` unless it has that annotation: by default there is no Istio in these pods
init | read kubeflow/pipelines 2.17.0 backend/src/v2/compiler/argocompiler/container.go:512-526 | \`kfp-launcher\` copies a file, and needs no network; Argo's \`init\` has no artifacts to download here
`;
