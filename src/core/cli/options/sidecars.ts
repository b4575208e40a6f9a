import { parseHttpTarget } from "../../base/address.ts";
import { redactHeader, redactUrl } from "../../base/redact.ts";
import { parseHeader } from "../../sidecars/quit.ts";
import { list, option, optional } from "../option.ts";
import { anyText, boolean, duration, port, sidecarList, syntax } from "../syntax.ts";
import { url } from "./variables.ts";

/** Which sidecars are here, and where. */
export const sidecars = {
  sidecar: option({
    flag: "sidecar",
    group: "sidecars",
    value: "NAME[,NAME]",
    initial: "auto",
    syntax: sidecarList,
    help: "which sidecars to wait for and to quit; auto: look for them",
  }),
  admin: optional({
    flag: "admin",
    group: "sidecars",
    value: "URL",
    initially: "by sidecar",
    syntax: syntax(parseHttpTarget, `${url} or unix:/path.sock`, redactUrl),
    also: [{ name: "ENVOY_ADMIN_API" }],
    help: "where the sidecar's admin interface is; readiness is then asked there",
  }),
  header: list({
    flag: "header",
    group: "sidecars",
    value: "'NAME: VALUE'",
    separator: "\n",
    syntax: syntax(parseHeader, "a header such as 'dapr-api-token: abc'", redactHeader),
    help: "a header for the quit requests, or for that of ebb request",
  }),
  podAnnotations: option({
    flag: "pod-annotations",
    group: "sidecars",
    value: "PATH",
    initial: "/etc/podinfo/annotations",
    syntax: anyText,
    secret: false,
    help: "the downward-API file where auto reads the pod's annotations",
  }),
  hostNetwork: optional({
    flag: "host-network",
    group: "sidecars",
    syntax: boolean,
    help: "this pod is on its node's network, where a port may be another pod's; without it /etc/hosts tells",
  }),
  appPort: list({
    flag: "app-port",
    group: "sidecars",
    value: "N",
    syntax: port,
    help: "a port of the app, where auto looks for no sidecar",
  }),
  detect: option({
    flag: "detect",
    group: "sidecars",
    value: "D",
    initial: 3000,
    syntax: duration,
    help: "how long auto looks before it decides that there is no sidecar",
  }),
  port: optional({
    flag: "port",
    group: "sidecars",
    value: "N",
    variable: "EBB_ADMIN_PORT", // EBB_PORT alone would look like what Kubernetes sets for a Service named ebb
    syntax: port,
    help: "the port of the admin interface on this pod's loopback",
  }),
} as const;
