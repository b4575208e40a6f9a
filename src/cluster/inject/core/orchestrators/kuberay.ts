import type { Container, Pod } from "../pod.ts";
import { labelOf, type Orchestrator, type Role } from "./orchestrator.ts";

/** KubeRay. The first container of a pod runs Ray, which never ends by itself: the operator deletes the pods. */
export const kubeRay = {
  name: "KubeRay",
  made: (pod) => /^(head|worker)$/.test(labelOf(pod, "ray.io/node-type") ?? ""),
  roleIn,
  needsMesh: ({ name }) => name === "wait-gcs-ready",
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE; ran TEST | SAYS`. */
export const facts = `
pods | read kuberay v1.5.0 ray-operator/controllers/ray/common/pod.go:630-650; ran test/orchestrators/kuberay.test.ts | the label \`ray.io/node-type\`, which users cannot set
app | read kuberay v1.5.0 ray-operator/controllers/ray/utils/constant.go:45,245, rayjob_controller.go:947-956; ran test/orchestrators/kuberay.test.ts | the first container; and \`ray-job-submitter\`, which a RayJob in SidecarMode adds to the head, and which ends with the job
sidecar | read kuberay v1.5.0 ray-operator/controllers/ray/common/pod.go:527-578 | \`autoscaler\` of the head
wrapping | read kuberay v1.5.0 ray-operator/controllers/ray/common/pod.go:479-505, raycluster_controller.go:1034-1100; ran test/orchestrators/kuberay.test.ts | safe: the command is a shell with \`ulimit -n 65536; ray start --block\`, and the operator looks at container states only. ray stop looks for Ray's own processes
end | read kuberay v1.5.0 ray-operator/controllers/ray/raycluster_controller.go:1034-1100, rayjob_controller.go:1098-1111; ran test/orchestrators/kuberay.test.ts | the operator deletes the pods; a failed submitter fails the RayJob
mesh | read kuberay v1.5.0 ray-operator/controllers/ray/common/pod.go:526-578 | Ray's nodes speak to each other, and \`autoscaler\` to the API server, until the pod is deleted
init | read kuberay v1.5.0 ray-operator/controllers/ray/common/pod.go:239-317; ran test/orchestrators/kuberay.test.ts | \`wait-gcs-ready\` of a worker asks the head: with an ordinary sidecar it never ends if the head wants mTLS, and is answered if it takes plain requests; \`ENABLE_INIT_CONTAINER_INJECTION=false\` leaves it out
`;

function roleIn({ name }: Container, { spec }: Pod): Role | undefined {
  if (name === "autoscaler") return "sidecar";
  return name === "ray-job-submitter" || name === spec.containers[0]?.name ? "app" : undefined;
}
