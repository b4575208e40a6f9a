import { parseHttpTarget } from "../../../core/address.ts";
import { redactHeader, redactUrl } from "../../../core/redact.ts";
import { parseHeader } from "../../../sidecars/core/quit.ts";
import { list, option, optional } from "../option.ts";
import { anyText, boolean, duration, port, sidecarChoice, syntax } from "../syntax.ts";
import { url } from "./variables.ts";

/** Which sidecars are here, and where. */
export const sidecars = {
  sidecar: option({
    flag: "sidecar",
    group: "sidecars",
    value: "NAME[:PORT][,NAME]",
    initial: { isAuto: true, named: [] },
    initially: "auto",
    syntax: sidecarChoice,
    isAnnotation: true,
    help: "the sidecars of this pod, with the port of an admin interface that was moved; auto finds others",
  }),
  admin: optional({
    flag: "admin",
    group: "sidecars",
    value: "URL",
    initially: "depends on the sidecar",
    syntax: syntax(parseHttpTarget, `${url} or unix:/path.sock`, redactUrl),
    also: [{ name: "ENVOY_ADMIN_API" }],
    isAnnotation: true,
    help: "URL of the sidecar's admin interface; ebb then asks there whether it is ready",
  }),
  header: list({
    flag: "header",
    group: "sidecars",
    value: "'NAME: VALUE'",
    separator: "\n",
    syntax: syntax(parseHeader, "a header such as 'dapr-api-token: abc'", redactHeader),
    isAnnotation: true,
    help: "a header to send with every request to the sidecars, as a flag also with those of ebb request and ebb wait",
  }),
  podAnnotations: option({
    flag: "pod-annotations",
    group: "sidecars",
    value: "PATH",
    initial: "/etc/podinfo/annotations",
    syntax: anyText,
    secret: false,
    isAnnotation: true,
    help: "the downward-API file of the pod's annotations, which auto reads",
  }),
  hostNetwork: optional({
    flag: "host-network",
    group: "sidecars",
    syntax: boolean,
    isAnnotation: true,
    help: "the network is the node's, where auto believes no port; if unset, ebb decides by /etc/hosts",
  }),
  appPort: list({
    flag: "app-port",
    group: "sidecars",
    value: "N",
    syntax: port,
    isAnnotation: true,
    help: "a port of the app, which auto never takes for a sidecar's",
  }),
  detectTimeout: option({
    flag: "detect-timeout",
    group: "sidecars",
    value: "D",
    initial: 3000,
    syntax: duration,
    isAnnotation: true,
    help: "how long auto looks for a sidecar before it decides that there is none",
  }),
  port: optional({
    flag: "port",
    group: "sidecars",
    value: "N",
    variable: "EBB_ADMIN_PORT", // EBB_PORT alone would look like what Kubernetes sets for a Service named ebb
    syntax: port,
    help: "port of the sidecar's admin interface on this pod's loopback",
  }),
} as const;
