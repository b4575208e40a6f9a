import { list, option, optional } from "../option.ts";
import { anyText, boolean, duration, port } from "../syntax.ts";
import { findingCommands } from "./sidecars.ts";

/** How `--sidecar auto` finds sidecars. */
export const detection = {
  podAnnotations: option({
    flag: "pod-annotations",
    commands: findingCommands,
    group: "sidecars",
    value: "PATH",
    initial: "/etc/podinfo/annotations",
    syntax: anyText,
    secret: false,
    help: "the downward-API file with the pod's annotations, which auto reads",
  }),
  hostNetwork: optional({
    flag: "host-network",
    commands: findingCommands,
    group: "sidecars",
    syntax: boolean,
    help: "the pod uses the node's network, where ebb relies on no port that is not named; if unset, ebb decides by /etc/hosts",
  }),
  appPort: list({
    flag: "app-port",
    commands: findingCommands,
    group: "sidecars",
    value: "N",
    syntax: port,
    inPod: "proxy-hook",
    help: "a port of the app, which auto never takes for a sidecar's",
  }),
  detectTimeout: option({
    flag: "detect-timeout",
    commands: ["run", "wait"],
    group: "sidecars",
    value: "D",
    initial: 3000,
    syntax: duration,
    help: "how long auto looks for a sidecar before it decides that there is none",
  }),
} as const;
