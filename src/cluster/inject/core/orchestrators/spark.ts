import type { Container } from "../pod.ts";
import { envValueOf, labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * Spark on Kubernetes, by spark-submit or by an operator. Each pod has one container of Spark's, which has no command,
 * but /opt/entrypoint.sh of its image; all others come from a pod template or the operator's `sidecars`.
 */
export const spark = {
  name: "Spark",
  made: (pod) => /^(driver|executor|connect-server)$/.test(labelOf(pod, "spark-role") ?? ""),
  roleIn: (container) => (isSpark(container) ? "app" : undefined),
  hasOneApp: true,
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read apache/spark 000120f resource-managers/kubernetes/core/src/main/scala/org/apache/spark/deploy/k8s/Constants.scala; spark-operator v2.5.2 pkg/common/spark.go:281-290,330 | the label \`spark-role\`
app | read apache/spark 00012ec k8s/features/BasicDriverFeatureStep.scala, BasicExecutorFeatureStep.scala (configurePod); spark-operator v2.5.2 pkg/common/spark.go:363-373 | \`spark-kubernetes-driver\` or \`spark-kubernetes-executor\`; a pod template may give another name, and then \`SPARK_APPLICATION_ID\` tells
sidecar | read spark-operator v2.5.2 internal/webhook/sparkpod_defaulter.go:589-603 | what the operator's \`sidecars\` or the pod template adds
wrapping | read apache/spark 02a0d8f resource-managers/kubernetes/docker/src/main/dockerfiles/spark/entrypoint.sh | safe: the entrypoint starts Java under tini -s, which needs not be PID 1. The arguments alone (\`driver\`, \`executor\`) are in the manifest
end | read apache/spark 023ff13 scheduler/cluster/k8s/ExecutorPodsSnapshot.scala (toState); spark-operator v2.5.2 pkg/util/sparkapplication.go:291-315 | the end of Spark's own container tells Spark and the operator the result, even if others still run; the driver deletes the executors before it ends
mesh | read apache/spark 00012ec k8s/features/BasicExecutorFeatureStep.scala (configurePod) | driver and executors speak to each other, and the driver to the API server, until they end
init | read spark-operator v2.5.2 internal/webhook/sparkpod_defaulter.go:605-623 | it adds none; those of the user may need it
`;

function isSpark(container: Container): boolean {
  const hasName = /^spark-kubernetes-(driver|executor)$/.test(container.name);
  return hasName || envValueOf(container, "SPARK_APPLICATION_ID") !== undefined;
}
