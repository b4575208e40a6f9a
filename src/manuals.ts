import type { Manual } from "./core/cli/help.ts";

// What --help tells of each command. Loaded for --help alone, so it imports nothing that a start needs.

const bad = ["64", "an unknown flag, or a bad value"] as const;

export const manuals: Readonly<Record<string, Manual>> = {
  run: {
    about:
      "Waits until the sidecars are ready, starts the command, forwards every signal to it, reaps orphans, and tells the sidecars to quit when it has ended. Exits with the command's own exit code, whatever the quits did. A stop signal that comes earlier ends the wait, and the sidecars are quit all the same. Without flags it finds the sidecars by itself, in any mesh or in none.",
    examples: [
      {
        call: "ebb run -- /app --month 10",
        why: "As ENTRYPOINT, or as `command` of a Job: it completes, because the sidecar is quit when /app has ended.",
      },
      {
        call: "ebb run --drain 40s --pod-grace 60s --grace 10s --restart-policy Always -- /server",
        why: "In a Deployment, without any preStop hook: a stop signal drains the proxy, then stops /server, by force after 10 s.",
      },
      {
        call: "ebb run --sidecar envoy --admin http://localhost:9000 -- /app",
        why: "Beside an Envoy of your own, whose admin interface is elsewhere than at port 9901.",
      },
      {
        call: "ebb run --wait-timeout 30s --on-wait-timeout start -- /app",
        why: "Starts /app after half a minute whether or not the proxy is ready.",
      },
    ],
    exits: [
      ["0-255", "the command's own exit code, unchanged (but for --expect-exit)"],
      ["128+n", "the command, or the wait before it, was ended by signal n"],
      ["127", "the command was not found"],
      ["126", "the command was found but cannot be executed"],
      bad,
      ["69", "the sidecars were not ready in time"],
    ],
    seeAlso: ["wait", "drain", "quit", "config"],
  },
  wait: {
    about:
      "Blocks until the sidecars and all targets are ready. With a command it then becomes that command: nothing of ebb is left in memory, and nobody quits the sidecars. Where targets are named, a sidecar that is not there yet is not waited for, unless --sidecar names it. A target is http(s)://host:port/path (ready: 200 to 299), tcp://host:port, unix:/socket or file:/path.",
    examples: [
      {
        call: "ebb wait -- /server",
        why: "As ENTRYPOINT of a server that runs as long as its pod: /server starts when the proxy can serve it.",
      },
      {
        call: "ebb wait --wait-timeout 2m tcp://db:5432 http://auth:8080/healthz",
        why: "In an init container or a Job: waits for two other services, with exit code 69 after two minutes.",
      },
      {
        call: "ebb wait --any tcp://db-0:5432 tcp://db-1:5432",
        why: "One of two is enough.",
      },
      {
        call: "ebb wait --sidecar none file:/shared/ready",
        why: "Waits until another container of the pod has written a file.",
      },
    ],
    exits: [
      ["0", "all is ready (with a command: its own exit code)"],
      ["128+n", "signal n ended the wait"],
      ["127, 126", "the command was not found, or cannot be executed"],
      bad,
      ["69", "not ready in time"],
    ],
    seeAlso: ["run", "sleep"],
  },
  sleep: {
    about:
      "Does nothing for a while. For preStop hooks of images that have no sleep: the app goes on serving while the pod's address leaves the endpoints. A duration is Go's (500ms, 1m30s) or a number of seconds. A stop signal ends it.",
    examples: [
      {
        call: "ebb sleep 5s",
        why: 'As preStop hook: exec: { command: ["/ebb", "sleep", "5s"] }.',
      },
    ],
    exits: [
      ["0", "the time is over"],
      ["128+n", "signal n ended it"],
      ["64", "this is no duration"],
    ],
    seeAlso: ["drain", "run"],
  },
  drain: {
    about:
      "Fails the proxy's health checks, keeps accepting for --min-drain while the pod's address leaves the endpoints, drains the listeners gracefully, and waits until nothing is in flight: requests on HTTP listeners, connections on the others. Idle keep-alive connections do not hold it up. All of it, --quit included, takes --drain at the most. Progress also goes to the pod's own log, because what an exec hook prints is seen nowhere.",
    examples: [
      {
        call: "ebb drain --drain 50s --pod-grace 60s",
        why: "As preStop hook of the app's container, or of the proxy's own.",
      },
      {
        call: "ebb drain --quit --sidecar envoy",
        why: "By kubectl exec, to take one gateway's pod out of service: drains it, then ends it.",
      },
    ],
    exits: [
      ["0", "nothing was left in flight"],
      bad,
      ["69", "out of time; the log says how much was left"],
      ["128+n", "signal n ended it"],
    ],
    seeAlso: ["run", "quit", "sleep"],
  },
  quit: {
    about:
      "Tells the sidecars to quit, all at the same time, and says what each answered, what that means, and whether it is gone. A request that fails is repeated within --quit-timeout. A native sidecar is left alone: Kubernetes ends it by itself after the app, and would only start it again.",
    examples: [
      {
        call: "ebb quit",
        why: "At the end of a Job whose command ebb did not start.",
      },
      {
        call: "ebb quit --sidecar istio",
        why: "By kubectl exec, where a Job's pod hangs because its proxy is still running.",
      },
      {
        call: "ebb quit --sidecar none --quit 'POST http://localhost:8001/shutdown' --header 'authorization: Bearer abc'",
        why: "A sidecar that ebb does not know.",
      },
    ],
    exits: [
      ["0", "each sidecar took it and is gone, or there is none"],
      bad,
      ["69", "one did not take it, or is still there; the log says which and why"],
    ],
    seeAlso: ["run", "drain"],
  },
  request: {
    about:
      "Sends one HTTP request to the proxy's admin interface, as `pilot-agent request` does, or to any URL, in an image that has no curl. The answer's body goes to stdout as it comes, all else to stderr. A redirect is not followed. Proxy variables such as HTTP_PROXY never touch it, and a header of EBB_HEADER, which is for quits, is not sent.",
    examples: [
      {
        call: "ebb request GET stats",
        why: "By kubectl exec: the statistics of the pod's Envoy.",
      },
      {
        call: "ebb request POST quitquitquit --port 15020",
        why: "Another port on this pod's loopback: that of Istio's agent.",
      },
      {
        call: "ebb request POST http://localhost:8080/import --header 'content-type: application/json' --body -",
        why: "The app itself, with what stdin says.",
      },
    ],
    exits: [
      ["0", "the answer's status was below 400"],
      ["1", "it was 400 or more"],
      bad,
      ["69", "no answer, or not all of it in time"],
    ],
    seeAlso: ["status", "wait", "quit"],
  },
  status: {
    about:
      "Shows which sidecars are here, whether each is ready and if not why, its listeners, what is in flight, how far a drain has come, which processes listen in this pod, and what stands out. It answers why a pod is stuck, without netstat, ss or a shell.",
    examples: [
      {
        call: "ebb status",
        why: "By kubectl exec, in any container of the pod that has ebb.",
      },
      {
        call: "ebb status --watch",
        why: "While a drain goes on.",
      },
      {
        call: "ebb status --json",
        why: "The same for programs.",
      },
    ],
    exits: [["0", "whatever it sees; ebb wait is what tells ready from not ready"], bad],
    seeAlso: ["wait", "request", "config"],
  },
  install: {
    about:
      "Copies ebb itself to DEST, for a container whose image nobody wants to change. The copy is whole or not there at all: it is written beside DEST, synced, read back, compared by SHA-256, and then moved. It has mode 0755 whatever the umask. A copy that is there already is left as it is. One line of the log says `installed`, or `installed already`.",
    examples: [
      {
        call: "ebb install /shared/ebb",
        why: "In an init container with an emptyDir at /shared; the app's container then starts with /shared/ebb run -- /app.",
      },
    ],
    exits: [
      ["0", "DEST is a whole copy"],
      ["64", "DEST is a folder, or anything else but a file"],
      ["71", "the system refused: no such folder, no room, read-only, no permission"],
      ["128+n", "signal n ended it; nothing is left behind"],
    ],
    seeAlso: ["run"],
  },
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
      ["71", "an address to listen at is not to be had"],
    ],
    seeAlso: ["manifests"],
  },
  reaper: {
    about:
      'Watches the pods of a cluster and ends the sidecars of those whose app has ended for good: for pods that cannot be changed. A pod asks for it with ebb.dev/reap: "true" as label or annotation, a namespace with that label for all of its pods; with --all-jobs the pods of all Jobs are looked after; who says "false" never is. What the kubelet will start again, ends by itself or has not finished is left alone. A sidecar is told by the first means that works: a command in it, a request through the API server to its quit endpoint, an ephemeral container with ebb; never by a pod\'s address, and only after a look at that very pod. Replicas agree by a Lease on who acts. With --once it looks once, acts, and prints a table, which also names the stuck pods that nobody chose.',
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
        call: "ebb reaper --means port-forward,ephemeral --image registry.example.com/ebb:0.1.0",
        why: "In a Deployment, without the right to exec in anything.",
      },
    ],
    exits: [
      ["0", "a stop signal ended it; with --once: all is done that was to be done"],
      bad,
      ["69", "there is no API server, or it refuses; with --once: a sidecar does not end"],
      ["71", "an address to listen at is not to be had"],
    ],
    seeAlso: ["quit", "webhook", "manifests"],
  },
  manifests: {
    about:
      "Prints all that installs the webhook in a cluster: a namespace of its own, rights, replicas, service and registration; with the word reaper, what installs that: two replicas, or with --schedule a CronJob, with rights to the means it may use and no others, in the whole cluster or in some namespaces. It asks no cluster, and the same call prints the same text, so it can be kept in a repository. kubectl delete with the text of one component removes that one and nothing of the other; a namespace that --namespace names stays. All that says how pods are changed (--set, --entrypoint, --volume, --all) goes to the webhook as it is, all that says what is ended (--all-jobs, --after, --means) to the reaper.",
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
        call: "ebb manifests reaper --image registry.example.com/ebb:0.1.0 --reap-namespace shop,bank --means port-forward",
        why: "A reaper for two namespaces, with rights in these alone, and none to exec or to change a pod.",
      },
    ],
    exits: [["0", "here they are"], bad],
    seeAlso: ["webhook", "reaper", "install"],
  },
  doctor: {
    about:
      "Reads a cluster, with your kubeconfig, and names what of ebb is not as somebody wanted it: pods that are to have ebb and have none (the webhook was down, or came later, or a container has no command), pods with ebb from another image than the webhook now gives (after an upgrade), a registration without a webhook behind it, rights without an account, annotations and labels that stand where nobody reads them. It changes nothing. What it may not read it names. Pods that are over are left out.",
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
  config: {
    about:
      "Shows what is in force: each option's value and where it came from, a flag, which variable, or the default. It names every value that is bad, and warns of EBB_ variables that set nothing.",
    examples: [
      {
        call: "ebb config",
        why: "By kubectl exec: what ebb makes of this container's environment.",
      },
      {
        call: "ebb config --json --wait-timeout 90s",
        why: "For programs, and with a flag to try.",
      },
    ],
    exits: [
      ["0", "all of it is right"],
      ["64", "something is not; stderr says what"],
    ],
    seeAlso: ["run"],
  },
  completion: {
    about:
      "Prints a script that completes commands, flags, their values, files, and the command line after -- in a shell.",
    examples: [
      {
        call: "ebb completion bash > /etc/bash_completion.d/ebb",
        why: "bash, for all users; for this shell alone: source <(ebb completion bash)",
      },
      {
        call: "ebb completion zsh > ~/.zfunc/_ebb",
        why: "zsh, in any folder of $fpath; for this shell alone: source <(ebb completion zsh)",
      },
      {
        call: "ebb completion fish > ~/.config/fish/completions/ebb.fish",
        why: "fish; for this shell alone: ebb completion fish | source",
      },
    ],
    exits: [
      ["0", "here it is"],
      ["64", "no such shell"],
    ],
    seeAlso: ["config"],
  },
};
