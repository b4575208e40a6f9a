import { labelOf, type Orchestrator } from "./orchestrator.ts";

/**
 * Drone's Kubernetes runner. Each step starts as a placeholder image, which waits; when it is the step's turn, the runner
 * replaces the image, and the kubelet starts the container again.
 */
export const drone = {
  name: "Drone",
  made: (pod) => labelOf(pod, "io.drone") === "true",
  roleIn: () => "untouchable",
} as const satisfies Orchestrator;

/** What ebb knows of this orchestrator, and how it is known; `ABOUT | read SOURCE | SAYS`. */
export const facts = `
pods | read drone-runner-kube v1.0.0-rc.5 engine/compiler/compiler.go:336-342 | the label \`io.drone: "true"\`, which no label of the pipeline overrides
app | read drone-runner-kube v1.0.0-rc.5 engine/convert.go:192-223 | none: a step and a service look the same, and their names are random
untouchable | read drone-runner-kube v1.0.0-rc.5 engine/compiler/step.go:19-28, engine/compiler/script.go:17-58, engine/launcher/launcher.go:147-172 | every step and service. The image in the pod is a placeholder, so a registry says nothing of what starts; a plugin has no command, but its image's, which comes later
wrapping | read drone-runner-kube v1.0.0-rc.5 engine/podwatcher/watcher.go:178-260 | breaks it: \`restartPolicy\` is Never, but a new image starts the container again. To ebb the end of the last placeholder would be the end of the last app, and it would quit the sidecars before the step
end | read drone-runner-kube v1.0.0-rc.5 engine/engine_impl.go:102-137 | the runner deletes the pod after the last step
mesh | read drone-runner-kube v1.0.0-rc.5 engine/engine_impl.go:199-226 | the steps need it; the placeholders start at once, and the sidecar has until the first step to become ready
init | read drone-runner-kube v1.0.0-rc.5 engine/compiler/compiler.go:456-468 | none: tmate's copies a program
`;
