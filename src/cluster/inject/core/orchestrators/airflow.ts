import type { Pod } from "../pod.ts";
import { labelOf, type Orchestrator, type Role } from "./orchestrator.ts";

const roles: Readonly<Record<string, Role>> = { base: "app", "airflow-xcom-sidecar": "sidecar" };

/**
 * Airflow: the pods of its KubernetesPodOperator, and the workers of its KubernetesExecutor. The operator reads the
 * result from the XCom sidecar by a shell in it, and ends that sidecar.
 */
export const airflow = {
  name: "Airflow",
  made: (pod) => isOf(pod, "kubernetes_pod_operator") || isOf(pod, "kubernetes_executor"),
  roleIn: ({ name }) => (Object.hasOwn(roles, name) ? roles[name] : undefined),
  hasOneApp: true,
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE; ran TEST | SAYS`. */
export const facts = `
pods | read apache-airflow-providers-cncf-kubernetes 10.25.0 operators/pod.py:622-627, pod_generator.py:516-521; ran test/orchestrators/airflow.test.ts | the label \`kubernetes_pod_operator: "True"\` or \`kubernetes_executor: "True"\`
app | read apache-airflow-providers-cncf-kubernetes 10.25.0 operators/pod.py:294,470, pod_generator.py:414-421; ran test/orchestrators/airflow.test.ts | \`base\`; \`base_container_name\` may give it another name: then the usual rules decide
sidecar | read apache-airflow-providers-cncf-kubernetes 10.25.0 utils/xcom_sidecar.py:38-53, utils/pod_manager.py:1061-1088, pod_generator.py:285-315; ran test/orchestrators/airflow.test.ts | \`airflow-xcom-sidecar\`: it is ended by kill -2 to processes that it finds by the text "sh" in their command lines. Beside \`base\` all others, which come from a pod template
wrapping | read apache-airflow-providers-cncf-kubernetes 10.25.0 operators/pod.py:1384-1399, utils/pod_manager.py:814-848; ran test/orchestrators/airflow.test.ts | safe: what counts is the exit code and the log of \`base\`. Without \`cmds\`, and in each worker, the command is the image's
end | read apache-airflow-providers-cncf-kubernetes 10.25.0 utils/pod_manager.py:830-848, operators/pod.py:1538-1560, executors/kubernetes_executor_utils.py:357-377; ran test/orchestrators/airflow.test.ts | with istio-proxy or XCom, the operator waits for the end of \`base\` only, and then deletes the pod, unless \`on_finish_action\` keeps it; otherwise it waits for the end of the pod. So does the executor: nobody ends a loop beside \`base\`
mesh | read apache-airflow-providers-cncf-kubernetes 10.25.0 utils/pod_manager.py:1027-1044; ran test/orchestrators/airflow.test.ts | only \`base\` needs it: the result is read through the API server
init | read apache-airflow-providers-cncf-kubernetes 10.25.0 operators/pod.py:498,1672 | it adds none; the user's are shown as they are
`;

function isOf(pod: Pod, label: string): boolean {
  return labelOf(pod, label) === "True";
}
