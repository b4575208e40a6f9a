import { labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * Knative Serving. Requests come through `queue-proxy`; the preStop hooks of all other containers ask it, and end when
 * the last request has ended.
 */
export const knative = {
  name: "Knative",
  made: (pod) => labelOf(pod, "serving.knative.dev/revision") !== undefined,
  roleIn: ({ name }) => (name === "queue-proxy" ? "sidecar" : "app"),
  probesApps: true,
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read knative/serving knative-v1.23.0 pkg/reconciler/revision/resources/meta.go:55-58, pkg/apis/serving/register.go:77 | the label \`serving.knative.dev/revision\`
app | read knative/serving knative-v1.23.0 pkg/reconciler/revision/resources/deploy.go:245-266 | the containers of the revision
sidecar | read knative/serving knative-v1.23.0 pkg/reconciler/revision/resources/queue.go:347-353, constants.go:21, deploy.go:268-290 | \`queue-proxy\`, which has no command; it probes the apps, and their own probes are taken out
wrapping | read knative/serving knative-v1.23.0 pkg/reconciler/revision/resources/deploy.go:268-290,416-418 | safe: only pods are changed, and the controller compares Deployments. Most containers have no command, but the image's. \`terminationMessagePolicy\` shows the end of the log, in which ebb writes too
end | read knative/serving knative-v1.23.0 pkg/reconciler/revision/resources/deploy.go:102-114 | the pods of a Deployment: they are deleted, and each container's hook waits for /wait-for-drain of \`queue-proxy\`
mesh | read knative/serving knative-v1.23.0 pkg/reconciler/revision/resources/deploy.go:102-107 | \`queue-proxy\` needs it until its requests have ended, which the apps' hooks wait for
init | read knative/serving knative-v1.23.0 pkg/reconciler/revision/resources/deploy.go:306-314 | it adds none
`;
