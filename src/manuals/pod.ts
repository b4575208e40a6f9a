import type { Manual } from "../core/cli/help.ts";
import { bad } from "./bad.ts";

/** Of the commands that run in a pod, or beside nothing. */
export const inPod: Readonly<Record<string, Manual>> = {
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
