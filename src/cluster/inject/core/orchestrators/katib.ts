import type { Pod } from "../pod.ts";
import { labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * Katib. Its webhook adds a metrics collector to a trial's pod, which looks for the training among the processes of all
 * containers: one without a parent, whose shell writes a file that is named by its own PID.
 */
export const katib = {
  name: "Katib",
  made: (pod) => labelOf(pod, "katib.kubeflow.org/trial") !== undefined && hasCollector(pod),
  roleIn: () => "untouchable",
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read katib v0.19.0 pkg/webhook/v1beta1/pod/utils.go:266-284, pkg/controller.v1beta1/consts/const.go:71 | the label \`katib.kubeflow.org/trial\`, which Katib's webhook sets, with a collector. A pod without one is no primary pod, or its training pushes the metrics: it needs no care
app | read katib v0.19.0 pkg/webhook/v1beta1/pod/inject_webhook.go:158-168 | the primary container, which is untouchable
untouchable | read katib v0.19.0 pkg/webhook/v1beta1/pod/inject_webhook.go:170-195, utils.go:155-199 | every container: Katib shares the processes of the pod, and starts the training by a shell
wrapping | read katib v0.19.0 pkg/metricscollector/v1beta1/common/pns.go:56-181, cmd/metricscollector/v1beta1/file-metricscollector/main.go:264-296 | breaks it: the collector takes a process without a parent for the training, and expects PID.pid to be named by it. That process would be ebb, and the file has the PID of the shell. An ebb around the collector it would wait for itself, without end. To stop early, it ends the one child of that process
end | read katib v0.19.0 pkg/metricscollector/v1beta1/common/pns.go:113-181 | the collector ends when all processes without a parent have ended, also an injected sidecar's, unless \`waitAllProcesses\` is false; then the pod ends
mesh | read katib v0.19.0 cmd/metricscollector/v1beta1/file-metricscollector/main.go:434-460 | the collector needs it after the training, to report to the DB manager
init | read katib v0.19.0 pkg/webhook/v1beta1/pod/inject_webhook.go:131-204 | it adds none
`;

/** Katib shares the processes of the pods in which it puts a collector, and of no others. */
function hasCollector({ spec }: Pod): boolean {
  return spec.shareProcessNamespace === true;
}
