import type { Manual } from "../core/cli/help.ts";
import { bad } from "./bad.ts";

/** Of the commands that are about a cluster. */
export const ofCluster: Readonly<Record<string, Manual>> = {
  webhook: {
    about:
      'Puts ebb into pods as they are created, as `ebb inject` does with manifests: a mutating admission webhook, asked by the API server. A pod asks for it with the annotation ebb.dev/inject: "true"; the label ebb.dev/inject=true of a namespace asks for all of its pods; with --all every pod but those that say "false" is changed. A pod that asks and cannot be changed is refused, so that its owner reads why. It makes its own certificates, renews them, and keeps the MutatingWebhookConfiguration\'s caBundle right, unless --cert-dir names cert-manager\'s. On a stop signal it is unready at once, goes on accepting for --min-drain, and ends when all is answered. `ebb manifests` prints what installs it.',
    examples: [
      {
        call: "ebb webhook --image registry.example.com/ebb:0.1.0",
        why: "In the cluster, for pods that ask for it.",
      },
      {
        call: "ebb webhook --image registry.example.com/ebb:0.1.0 --all --set drain=40s --cert-dir /certificates",
        why: "For all pods, with an option of ebb run for each, and with cert-manager's certificate.",
      },
    ],
    exits: [
      ["0", "a stop signal ended it"],
      bad,
      ["69", "there is no API server to keep certificates with"],
      ["71", "cannot bind the address to listen at"],
    ],
    seeAlso: ["manifests"],
  },
  reaper: {
    about:
      'Watches the pods of a cluster and ends the sidecars of those whose app has ended for good: for pods that cannot be changed. A pod asks for it with ebb.dev/reap: "true" as label or annotation, a namespace with that label for all of its pods; with --all-jobs the pods of all Jobs are looked after; who says "false" never is. What the kubelet will start again, ends by itself or has not finished is left alone. A sidecar is told by the first methods that works: a command in it, a request through the API server to its quit endpoint, an ephemeral container with ebb; never by a pod\'s address, and only after a look at that very pod. Replicas agree by a Lease on who acts. With --once it looks once, acts, and prints a table, which also names the stuck pods that nobody chose.',
    examples: [
      {
        call: "ebb reaper --once --namespace shop --all-jobs --dry-run",
        why: "At a terminal, with your kubeconfig: which pods of the namespace are stuck, and what would be done. Those that nobody chose are named too.",
      },
      {
        call: "ebb reaper --once --all-jobs --image registry.example.com/ebb:0.1.0",
        why: "In a CronJob: ends the sidecars of all finished Jobs, by an ephemeral container where nothing else works.",
      },
      {
        call: "ebb reaper --methods port-forward,ephemeral --image registry.example.com/ebb:0.1.0",
        why: "In a Deployment, without the right to exec in anything.",
      },
    ],
    exits: [
      ["0", "a stop signal ended it; with --once: all is done that was to be done"],
      bad,
      ["69", "there is no API server, or it refuses; with --once: a sidecar does not end"],
      ["71", "cannot bind the address to listen at"],
    ],
    seeAlso: ["quit", "webhook", "manifests"],
  },
  manifests: {
    about:
      "Prints all that installs the webhook in a cluster: a namespace of its own, rights, replicas, service and registration; with the word reaper, what installs that: two replicas, or with --schedule a CronJob, with rights to the methods it may use and no others, in the whole cluster or in some namespaces. It asks no cluster, and the same call prints the same text, so it can be kept in a repository. kubectl delete with the text of one component removes that one and nothing of the other; a namespace that --namespace names stays. All that says how pods are changed (--set, --entrypoint, --volume, --all) goes to the webhook as it is, all that says what is ended (--all-jobs, --after, --methods) to the reaper.",
    examples: [
      {
        call: "ebb manifests --image registry.example.com/ebb:0.1.0",
        why: "Piped into kubectl apply --server-side -f -, or, to take it away again, into kubectl delete --ignore-not-found -f -.",
      },
      {
        call: "ebb manifests --image registry.example.com/ebb:0.1.0 --namespace-selector mesh=on --set drain=40s",
        why: "For pods of the namespaces with the label mesh=on alone, with 40 s to drain where they do not say otherwise.",
      },
      {
        call: "ebb manifests --image registry.example.com/ebb:0.1.0 --cert-manager --failure-policy Fail webhook",
        why: "Certificates by cert-manager, and no pod that opted in starts without ebb.",
      },
      {
        call: "ebb manifests reaper --image registry.example.com/ebb:0.1.0 --reap-namespace shop,bank --methods port-forward",
        why: "A reaper for two namespaces, with rights in these alone, and none to exec or to change a pod.",
      },
    ],
    exits: [["0", "here they are"], bad],
    seeAlso: ["webhook", "reaper", "install"],
  },
  doctor: {
    about:
      "Reads a cluster, with your kubeconfig, and names what of ebb is not as somebody wanted it: pods that are to have ebb and have none (the webhook was down, or came later, or a container has no command), pods with ebb from another image than the webhook now gives (after an upgrade), a registration without a webhook behind it, rights without an account, annotations and labels that stand where nobody reads them. It changes nothing. What it may not read it names. Pods and Jobs that are over are left out.",
    examples: [
      { call: "ebb doctor", why: "The whole cluster." },
      { call: "ebb doctor --namespace shop --json", why: "The pods of one namespace, for a script." },
    ],
    exits: [
      ["0", "nothing was found"],
      ["1", "something was found"],
      ["64", "a flag is wrong, there is no kubeconfig, or no such namespace"],
      ["69", "the API server does not answer, or refuses"],
    ],
    seeAlso: ["webhook", "inject", "manifests"],
  },
  inject: {
    about:
      'Reads manifests, YAML or JSON, from files, folders or stdin, puts ebb into the pods that ask for it (annotation ebb.dev/inject: "true" on the pod, or on the workload\'s template of it), or into all with --all, and prints everything. What is not changed stays as it is, to the byte: comments, order, quotes, anchors, and documents of any other kind. What was done with each pod is said on stderr. If one that asks for it cannot be changed, nothing is printed. A second time changes nothing. With --remove, or where a pod says ebb.dev/inject: "false", ebb is taken out again.',
    examples: [
      {
        call: "ebb inject --image registry.example.com/ebb:0.1.0 deploy/ | kubectl apply -f -",
        why: "All manifests of a folder, into the cluster.",
      },
      {
        call: "ebb inject --image registry.example.com/ebb:0.1.0 --all --diff rendered.yaml",
        why: "What would change, as a diff that git apply takes; with exit code 1 if anything would.",
      },
      {
        call: "ebb inject --image registry.example.com/ebb:0.1.0 --entrypoint 'web=/server --port 8080' --set drain=40s --in-place web.yaml",
        why: "In the file itself. The image starts /server, which the manifest does not say; ebb drains before it stops.",
      },
    ],
    exits: [
      ["0", "here it is; with --diff: nothing would change"],
      ["1", "with --diff: something would change"],
      bad,
      ["65", "a manifest cannot be read, or a pod cannot be changed: stderr says which, where and why"],
      ["71", "a file cannot be read or written"],
    ],
    seeAlso: ["install", "run", "config"],
  },
};
