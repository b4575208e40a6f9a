import type { Manual } from "../core/cli/help.ts";

/** What a bad call exits with, as a row of exit codes. */
export const bad = ["64", "an unknown flag, or a bad value"] as const;

/** Of the commands that run in a pod, or beside nothing. */
export const inPod: Readonly<Record<string, Manual>> = {
  run: {
    examples: [
      {
        call: "ebb run -- /app --month 10",
        why: "As ENTRYPOINT, or as `command` in a Job: the Job completes, because the sidecar is quit when /app has ended.",
      },
      {
        call: "ebb run --drain 40s --pod-grace 60s --grace 10s --restart-policy Always -- /server",
        why: "In a Deployment, without a preStop hook: a stop signal drains the proxy, then stops /server, after 10 s by SIGKILL.",
      },
      {
        call: "ebb run --sidecar envoy --admin http://localhost:9000 -- /app",
        why: "Beside an Envoy of your own with its admin interface on port 9000, not 9901.",
      },
      {
        call: "ebb run --wait-timeout 30s --on-wait-timeout start -- /app",
        why: "Starts /app after 30 s, even if the proxy is not ready.",
      },
    ],
    exits: [
      ["0-255", "the command's own exit code, unchanged (but for --expect-exit)"],
      ["128+n", "the command, or the wait before it, was ended by signal n"],
      ["127", "the command, its interpreter or its loader was not found"],
      ["126", "the command was found but cannot be executed"],
      bad,
      ["69", "the sidecars were not ready in time"],
    ],
    seeAlso: ["wait", "drain", "quit", "config"],
  },
  wait: {
    examples: [
      {
        call: "ebb wait -- /server",
        why: "As ENTRYPOINT of a server: /server starts when the proxy is ready.",
      },
      {
        call: "ebb wait --wait-timeout 2m tcp://db:5432 http://auth:8080/healthz",
        why: "In an init container or a Job: waits for two other services; exit code 69 after two minutes.",
      },
      {
        call: "ebb wait --any tcp://db-0:5432 tcp://db-1:5432",
        why: "One of the two is enough.",
      },
      {
        call: "ebb wait --sidecar none file:/shared/ready",
        why: "Waits until another container of the pod has written a file.",
      },
    ],
    exits: [
      ["0", "all is ready (with a command: its own exit code)"],
      ["128+n", "signal n ended the wait"],
      ["127, 126", "the command was not found (or its interpreter or loader), or cannot be executed"],
      bad,
      ["69", "not ready in time"],
    ],
    seeAlso: ["run", "sleep"],
  },
  sleep: {
    about:
      "Does nothing for a while: for preStop hooks of images that have no sleep. The app goes on serving while the pod's address leaves the endpoints. A stop signal ends it.",
    examples: [
      {
        call: "ebb sleep 5s",
        why: 'As preStop hook: exec: { command: ["/ebb", "sleep", "5s"] }.',
      },
    ],
    exits: [
      ["0", "the time is over"],
      ["128+n", "signal n ended it"],
      ["64", "not a duration"],
    ],
    seeAlso: ["drain", "run"],
  },
  drain: {
    examples: [
      {
        call: "ebb drain --drain 50s --pod-grace 60s",
        why: "As preStop hook of the app's container, or of the proxy's.",
      },
      {
        call: "ebb drain --quit --sidecar envoy",
        why: "By kubectl exec: takes one gateway pod out of service, then ends it.",
      },
    ],
    exits: [
      ["0", "at most --max-in-flight were left in flight"],
      bad,
      ["69", "out of time, or could not drain; the log says which"],
      ["128+n", "signal n ended it"],
    ],
    seeAlso: ["run", "quit", "sleep"],
  },
  quit: {
    examples: [
      {
        call: "ebb quit",
        why: "At the end of a Job that ebb did not start.",
      },
      {
        call: "ebb quit --sidecar istio",
        why: "By kubectl exec: ends a pod that hangs because its proxy still runs.",
      },
      {
        call: "ebb quit --sidecar none --quit 'POST http://localhost:8001/shutdown' --header 'authorization: Bearer abc'",
        why: "A sidecar that ebb does not know.",
      },
    ],
    exits: [
      ["0", "every sidecar is gone, or there is none"],
      bad,
      ["69", "a sidecar refused, or is still there; the log says which and why"],
    ],
    seeAlso: ["run", "drain"],
  },
  request: {
    examples: [
      {
        call: "ebb request GET stats",
        why: "By kubectl exec: the statistics of the pod's Envoy.",
      },
      {
        call: "ebb request POST quitquitquit --port 15020",
        why: "Another port of this pod: the one of Istio's agent.",
      },
      {
        call: "ebb request POST http://localhost:8080/import --header 'content-type: application/json' --body -",
        why: "To the app itself, with stdin as the body.",
      },
    ],
    exits: [
      ["0", "the answer's status was below 400"],
      ["1", "the answer's status was 400 or more"],
      bad,
      ["69", "no answer, or not all of it in time"],
    ],
    seeAlso: ["status", "wait", "quit"],
  },
  status: {
    examples: [
      {
        call: "ebb status",
        why: "By kubectl exec, in any container of the pod that has ebb.",
      },
      {
        call: "ebb status --watch",
        why: "Follow a drain.",
      },
      {
        call: "ebb status --json",
        why: "For scripts.",
      },
    ],
    exits: [["0", "always; use ebb wait to tell ready from not ready"], bad],
    seeAlso: ["wait", "request", "config"],
  },
  install: {
    examples: [
      {
        call: "ebb install /shared/ebb",
        why: "In an init container with an emptyDir at /shared. The app's container starts with /shared/ebb run -- /app.",
      },
    ],
    exits: [
      ["0", "DEST is a whole copy"],
      ["64", "DEST is not a regular file"],
      ["71", "the system refused: no such folder, no room, read-only, no permission"],
      ["128+n", "signal n ended it; nothing is left behind"],
    ],
    seeAlso: ["run"],
  },
  config: {
    about:
      "Shows each option's value and where it comes from: a flag, a variable, or the default. It names every bad value, and warns of EBB_ variables that are no option.",
    examples: [
      {
        call: "ebb config",
        why: "By kubectl exec: the options of this container.",
      },
      {
        call: "ebb config --json --wait-timeout 90s",
        why: "For scripts, with a flag to try.",
      },
    ],
    exits: [
      ["0", "all values are valid"],
      ["64", "a value is bad; stderr says which"],
    ],
    seeAlso: ["run"],
  },
  completion: {
    about:
      "Prints a script for a shell that completes commands, flags, their values, files, and the command line after --.",
    examples: [
      {
        call: "ebb completion bash > /etc/bash_completion.d/ebb",
        why: "bash, for all users. For this shell only: source <(ebb completion bash)",
      },
      {
        call: "ebb completion zsh > ~/.zfunc/_ebb",
        why: "zsh, in any folder of $fpath. For this shell only: source <(ebb completion zsh)",
      },
      {
        call: "ebb completion fish > ~/.config/fish/completions/ebb.fish",
        why: "fish. For this shell only: ebb completion fish | source",
      },
    ],
    exits: [
      ["0", "the script was printed"],
      ["64", "no such shell"],
    ],
    seeAlso: ["config"],
  },
};
