import type { Container, Pod } from "../pod.ts";
import { envValueOf, labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * Jenkins' kubernetes plugin. The agent in `jnlp` connects to the controller, which starts commands in the pod's other
 * containers by exec: those sleep meanwhile, and never end by themselves.
 */
export const jenkins = {
  name: "Jenkins",
  made: (pod) => hasLabel(pod, "kubernetes.jenkins.io/controller") || hasLabel(pod, "jenkins/label"),
  roleIn: (container) => (isAgent(container) ? "app" : "sidecar"),
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read jenkinsci/kubernetes-plugin a82d78a PodTemplateBuilder.java:98,235-237, PodTemplate.java:490-501 | the label \`kubernetes.jenkins.io/controller\` or \`jenkins/label\`
app | read jenkinsci/kubernetes-plugin a82d78a PodTemplateBuilder.java:311-321,460-482,515-517, KubernetesCloud.java:113 | \`jnlp\`, or the container that has the agent's variables
sidecar | read jenkinsci/kubernetes-plugin a82d78a pipeline/ContainerExecDecorator.java:437-520 | all others: \`container("maven") { sh ... }\` starts a shell in them by exec
wrapping | read jenkinsci/kubernetes-plugin a82d78a PodTemplateBuilder.java:310-320,341-386 | safe for the agent. It has no command, but the image's, unless the agent is injected: then /jenkins-agent/jenkins-agent
end | read jenkinsci/kubernetes-plugin a82d78a KubernetesSlave.java:416-461, pod/retention/Reaper.java:423-473 | the controller deletes the pod, also when any container of it has ended
mesh | read jenkinsci/kubernetes-plugin a82d78a KubernetesLauncher.java:228-313 | the agent needs it to connect, and retries until \`slaveConnectTimeout\`
init | read jenkinsci/kubernetes-plugin a82d78a PodTemplateBuilder.java:341-360 | none: \`set-up-jenkins-agent\` copies files
`;

function hasLabel(pod: Pod, name: string): boolean {
  return labelOf(pod, name) !== undefined;
}

function isAgent(container: Container): boolean {
  return container.name === "jnlp" || envValueOf(container, "JENKINS_AGENT_NAME") !== undefined;
}
