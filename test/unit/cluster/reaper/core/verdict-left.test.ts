import { describe } from "bun:test";
import { ago, ended, nothing, running, waiting } from "./stuck-pods.ts";
import { native, stuck, testLeft } from "./stuck-verdicts.ts";

describe("a pod is left", () => {
  testLeft([
    [
      "while it is being deleted",
      { containers: stuck, metadata: { deletionTimestamp: ago(1) } },
      "deleted",
      "the kubelet ends all",
    ],
    ["when it has succeeded", { containers: stuck, status: { phase: "Succeeded" } }, "over", "Succeeded"],
    ["when it has failed", { containers: stuck, status: { phase: "Failed" } }, "over", "Failed"],
    ["while it is pending", { containers: stuck, status: { phase: "Pending" } }, "pending", "Pending"],
    ["when it has no phase", { containers: stuck, status: { phase: undefined } }, "pending", "not set"],
    ["when its state is unknown", { containers: stuck, status: { phase: "Unknown" } }, "node-lost", "node is lost"],
    ["when its node is lost", { containers: stuck, status: { reason: "NodeLost" } }, "node-lost", "node is lost"],
    [
      "when it is a mirror of a static pod",
      { containers: stuck, annotations: { "kubernetes.io/config.mirror": "hash" } },
      "static",
      "static pod",
    ],
    [
      "when its node owns it",
      {
        containers: stuck,
        metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", controller: true }] },
      },
      "static",
      "static pod",
    ],
    [
      "when it is a server",
      { containers: { app: running, "istio-proxy": running }, spec: { restartPolicy: "Always" } },
      "app-running",
      "app container app still runs",
    ],
    [
      "when it is a server that is about to be started again",
      { containers: stuck, spec: { restartPolicy: "Always" } },
      "app-restarts",
      "the kubelet starts app again (restartPolicy Always)",
    ],
    [
      "when it says no restartPolicy",
      { containers: stuck, spec: { restartPolicy: undefined } },
      "app-restarts",
      "Always",
    ],
    [
      "when it has only sidecars",
      { containers: { "istio-proxy": running, daprd: ended(0) } },
      "no-app",
      "all its containers",
    ],
    ["when it has no sidecar", { containers: { app: ended(0), other: running } }, "no-sidecar", "ebb.dev/sidecars"],
    [
      "when its sidecars are native",
      { containers: { app: ended(0) }, initContainers: { "istio-proxy": { state: running, ...native } } },
      "no-sidecar",
      "native sidecars (istio-proxy)",
    ],
    [
      "when a container is said to be both",
      { containers: stuck, annotations: { "ebb.dev/apps": "app,a", "ebb.dev/sidecars": "b, app" } },
      "contradiction",
      "both name app",
    ],
    [
      "when it says how to end a container that is not there",
      { containers: stuck, annotations: { "ebb.dev/reap-quit.istio-prox": "http://localhost:1/" } },
      "contradiction",
      'ebb.dev/reap-quit.istio-prox: there is no container "istio-prox"',
    ],
    [
      "when a slip makes an app of its sidecar",
      { containers: { app: ended(0), metrics: running }, annotations: { "ebb.dev/sidecars": "metrcs" } },
      "contradiction",
      'there is no container "metrcs": this pod\'s containers are app, metrics; did you mean metrics?',
    ],
    [
      "while its init containers run anew",
      { containers: stuck, initContainers: { init: running } },
      "initializing",
      "init container init is not done",
    ],
    [
      "when an init container has failed",
      { containers: stuck, initContainers: { init: ended(1) } },
      "initializing",
      "init container init",
    ],
    [
      "while all its containers are started again",
      { containers: stuck, status: { conditions: [{ type: "AllContainersRestarting", status: "True" }] } },
      "restarting",
      "being started again",
    ],
    ["while the app runs", { containers: { ...stuck, app: running } }, "app-running", "app container app still runs"],
    ["while one of the apps runs", { containers: { ...stuck, other: running } }, "app-running", "other still runs"],
    [
      "while an app waits for its next start",
      { containers: { ...stuck, app: waiting("CrashLoopBackOff") }, spec: { restartPolicy: "OnFailure" } },
      "app-waiting",
      "CrashLoopBackOff",
    ],
    [
      "while an app's state is not known",
      { containers: { ...stuck, app: nothing } },
      "app-unknown",
      "app container app",
    ],
    [
      "when the kubelet has lost sight of the app",
      { containers: { ...stuck, app: ended(137, 60, "ContainerStatusUnknown") } },
      "app-unknown",
      "app container app",
    ],
    [
      "when an app's end has no time",
      { containers: { ...stuck, app: { terminated: { exitCode: 0, finishedAt: null } } } },
      "app-unknown",
      "app",
    ],
    [
      "when the time of an app's end is none that Kubernetes writes",
      { containers: { ...stuck, app: { terminated: { exitCode: 0, finishedAt: "2026" } } } },
      "app-unknown",
      "app",
    ],
    [
      "when an app has no status",
      { containers: stuck, status: { containerStatuses: [{ name: "istio-proxy", state: running }] } },
      "app-unknown",
      "app",
    ],
    [
      "when the app has failed, and is started again",
      { containers: { ...stuck, app: ended(3) }, spec: { restartPolicy: "OnFailure" } },
      "app-restarts",
      "starts app again (restartPolicy OnFailure, exit code 3)",
    ],
    [
      "when the app's own rule starts it again",
      {
        containers: {
          app: {
            state: ended(42),
            spec: {
              restartPolicy: "Never",
              restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
            },
          },
          "istio-proxy": running,
        },
      },
      "app-restarts",
      "restartPolicyRules: Restart after exit code 42",
    ],
    [
      "when the app's end starts all containers again",
      { containers: { ...stuck, app: ended(0, 60, "RestartingAllContainers") } },
      "app-restarts",
      "RestartingAllContainers",
    ],
    [
      "while a sidecar waits",
      { containers: { ...stuck, "istio-proxy": waiting("CrashLoopBackOff") } },
      "sidecar-waiting",
      "istio-proxy waits: CrashLoopBackOff",
    ],
    [
      "while a sidecar's state is not known",
      { containers: { ...stuck, daprd: nothing } },
      "sidecar-unknown",
      "sidecar daprd",
    ],
    [
      "when a sidecar would be started again",
      { containers: { ...stuck, "istio-proxy": { state: running, spec: { restartPolicy: "Always" } } } },
      "sidecar-restarts",
      "would start istio-proxy again after it was ended (its own restartPolicy Always)",
    ],
    [
      "when a sidecar has failed, and is started again",
      { containers: { ...stuck, "istio-proxy": ended(1) }, spec: { restartPolicy: "OnFailure" } },
      "sidecar-restarts",
      "starts istio-proxy again",
    ],
    [
      "when its sidecars have ended",
      { containers: { ...stuck, "istio-proxy": ended(0) } },
      "sidecars-ended",
      "already",
    ],
    [
      "while somebody is debugging it",
      { containers: stuck, ephemeralContainers: { "debugger-x": running } },
      "debugged",
      "debugger-x",
    ],
    [
      "while a container of the reaper's is at work in it",
      { containers: stuck, ephemeralContainers: { "ebb-reaper-1": running } },
      "being-ended",
      "ebb-reaper-1 is ending its sidecars",
    ],
    [
      "while a container of the reaper's is about to start in it",
      { containers: stuck, ephemeralContainers: { "ebb-reaper-1": waiting("ContainerCreating") } },
      "being-ended",
      "ebb-reaper-1 is ending its sidecars",
    ],
    [
      "when nothing is known that ends a sidecar",
      { containers: { app: ended(0), mine: running }, annotations: { "ebb.dev/sidecars": "mine" } },
      "no-method",
      "ebb does not know how to end mine: say how with the annotation ebb.dev/reap-exec.mine, or ebb.dev/reap-quit.mine",
    ],
    [
      "when what is beside the app takes no quit",
      { containers: { app: ended(0), "otc-container": running } },
      "no-method",
      "ebb does not know how to end otc-container",
    ],
    [
      "when nothing that may be done ends a sidecar",
      { containers: { app: ended(0), "linkerd-proxy": running } },
      "no-method",
      "none of the allowed methods (exec) ends linkerd-proxy: allow more with --methods",
      { methods: ["exec"] },
    ],
  ]);
});
