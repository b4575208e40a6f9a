import type { Manual } from "../core/cli/help.ts";
import { bad } from "./pod.ts";

/** Of the commands that are about a cluster. */
export const ofCluster: Readonly<Record<string, Manual>> = {
  webhook: {
    examples: [
      {
        call: "ebb webhook --image registry.example.com/ebb:0.1.0",
        why: "In the cluster: for pods that ask for ebb.",
      },
      {
        call: "ebb webhook --image registry.example.com/ebb:0.1.0 --all --set drain=40s --cert-dir /certificates",
        why: "For all pods, with a drain of 40 s, and with cert-manager's certificate.",
      },
    ],
    exits: [
      ["0", "a stop signal ended it"],
      bad,
      ["69", "no API server: the certificates cannot be kept"],
      ["71", "cannot bind the address to listen at"],
    ],
    seeAlso: ["manifests"],
  },
  reaper: {
    examples: [
      {
        call: "ebb reaper --once --namespace shop --all-jobs --dry-run",
        why: "At a terminal, with your kubeconfig: which pods of the namespace are stuck, selected or not, and what would be done.",
      },
      {
        call: "ebb reaper --once --all-jobs --image registry.example.com/ebb:0.1.0",
        why: "In a CronJob: ends the sidecars of all finished Jobs, by an ephemeral container if nothing else works.",
      },
      {
        call: "ebb reaper --methods port-forward,ephemeral --image registry.example.com/ebb:0.1.0",
        why: "In a Deployment, without the right to exec.",
      },
    ],
    exits: [
      ["0", "a stop signal ended it; with --once: nothing is left to do"],
      bad,
      ["69", "no API server, or it refuses; with --once: a sidecar did not exit"],
      ["71", "cannot bind the address to listen at"],
    ],
    seeAlso: ["quit", "webhook", "manifests"],
  },
  manifests: {
    about:
      "Prints the YAML that installs the webhook or the reaper: namespace, account and permissions, Deployment or CronJob, Service, registration. It asks no cluster, and the same call prints the same text: keep it in a repository. kubectl delete with that text removes the component, and nothing of the other one. A namespace given by --namespace stays. Options of injection go to the webhook, options of reaping to the reaper.",
    examples: [
      {
        call: "ebb manifests --image registry.example.com/ebb:0.1.0",
        why: "To install, pipe it into kubectl apply --server-side -f -; to remove, into kubectl delete --ignore-not-found -f -.",
      },
      {
        call: "ebb manifests --image registry.example.com/ebb:0.1.0 --namespace-selector mesh=on --set drain=40s",
        why: "Only for pods of namespaces with the label mesh=on; 40 s to drain, unless a pod says otherwise.",
      },
      {
        call: "ebb manifests --image registry.example.com/ebb:0.1.0 --cert-manager --failure-policy Fail webhook",
        why: "Certificates by cert-manager. No pod that opted in starts without ebb.",
      },
      {
        call: "ebb manifests reaper --image registry.example.com/ebb:0.1.0 --reap-namespace shop,bank --methods port-forward",
        why: "A reaper for two namespaces, with rights only there, and none to exec or to change a pod.",
      },
    ],
    exits: [["0", "the manifests were printed"], bad],
    seeAlso: ["webhook", "reaper", "install"],
  },
  doctor: {
    examples: [
      { call: "ebb doctor", why: "The whole cluster." },
      { call: "ebb doctor --namespace shop --json", why: "The pods of one namespace, for a script." },
    ],
    exits: [
      ["0", "nothing was found"],
      ["1", "something was found"],
      ["64", "a bad flag, no kubeconfig, or no such namespace"],
      ["69", "the API server does not answer, or refuses"],
    ],
    seeAlso: ["webhook", "inject", "manifests"],
  },
  inject: {
    examples: [
      {
        call: "ebb inject --image registry.example.com/ebb:0.1.0 deploy/ | kubectl apply -f -",
        why: "All manifests of a folder, into the cluster.",
      },
      {
        call: "ebb inject --image registry.example.com/ebb:0.1.0 --all --diff rendered.yaml",
        why: "What would change, as a diff for git apply; exit code 1 if anything would.",
      },
      {
        call: "ebb inject --image registry.example.com/ebb:0.1.0 --entrypoint 'web=/server --port 8080' --set drain=40s --in-place web.yaml",
        why: "In the file itself. The manifest has no command: the image starts /server.",
      },
    ],
    exits: [
      ["0", "done; with --diff: nothing would change"],
      ["1", "with --diff: something would change"],
      bad,
      ["65", "a manifest cannot be read, or a pod cannot be changed: stderr says which, where and why"],
      ["71", "a file cannot be read or written"],
    ],
    seeAlso: ["install", "run", "config"],
  },
};
