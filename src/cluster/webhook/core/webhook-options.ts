import { changed, list, option, optional } from "../../../shared/cli/core/option.ts";
import { options, optionsOf } from "../../../shared/cli/core/options.ts";
import { anyText, duration, syntax } from "../../../shared/cli/core/syntax.ts";
import { isDnsSubdomain } from "../../../shared/core/dns-name.ts";
import type { ListenAddress } from "../../controller/core/listen.ts";
import { webhookRegistryOptions } from "../../image/core/registry-options.ts";
import { injectionOptions } from "../../inject/core/injection-options.ts";

const listenAddress = syntax(parseListenAddress, "an address such as :8443 or 127.0.0.1:8443 (port 0: any)");
const name = syntax((given) => (isDnsSubdomain(given) ? given : undefined), "a name such as ebb-webhook");

const serving = {
  listen: option({
    flag: "listen",
    group: "serving",
    value: "[ADDR]:PORT",
    initial: { host: undefined, port: 8443 },
    initially: ":8443",
    syntax: listenAddress,
    help: "address of the HTTPS server that the API server calls: POST /mutate",
  }),
  healthListen: option({
    flag: "health-listen",
    group: "serving",
    value: "[ADDR]:PORT",
    initial: { host: undefined, port: 8080 },
    initially: ":8080",
    syntax: listenAddress,
    help: "address of the plain HTTP server for probes and Prometheus: /healthz, /readyz, /metrics",
  }),
};

const certificates = {
  certDir: optional({
    flag: "cert-dir",
    group: "certificates",
    value: "DIR",
    initially: "ebb makes its own",
    syntax: anyText,
    secret: false,
    help: "the folder with tls.crt and tls.key, such as cert-manager's mounted Secret; read again when they change",
    brief: "tls.crt and tls.key, if not ebb's own",
  }),
  name: option({
    flag: "name",
    group: "certificates",
    value: "NAME",
    initial: "ebb-webhook",
    syntax: name,
    secret: false,
    isRare: true,
    help: "the Service, the MutatingWebhookConfiguration whose caBundle ebb writes, and NAME-certificates, the CA's Secret",
  }),
  certificateNames: list({
    flag: "certificate-names",
    group: "certificates",
    value: "NAME[,NAME]",
    syntax: syntax((given) => (/^[^\s,]+$/.test(given) ? given : undefined), "a host name or an IP address"),
    secret: false,
    help: "another host name or address for the certificate",
  }),
  namespace: optional({
    flag: "namespace",
    group: "certificates",
    value: "NAME",
    initially: "the pod's own",
    syntax: name,
    secret: false,
    help: "the namespace of the Secret and the Service",
  }),
  kubeconfig: optional({
    flag: "kubeconfig",
    group: "certificates",
    value: "FILE",
    initially: "KUBECONFIG; in a pod its ServiceAccount; else ~/.kube/config",
    syntax: anyText,
    secret: false,
    help: "the kubeconfig to use outside the cluster",
    brief: "the kubeconfig, outside the cluster",
  }),
  context: optional({
    flag: "context",
    group: "certificates",
    value: "NAME",
    initially: "the current one",
    syntax: anyText,
    secret: false,
    help: "the context of --kubeconfig to use",
    brief: "its context",
  }),
};

const shutdown = {
  minDrain: changed(options.minDrain, {
    help: "after a stop signal, report not ready but keep accepting requests for this long",
    brief: undefined,
  }),
  drain: option({
    flag: "drain",
    group: "shutdown",
    value: "D",
    initial: 20_000,
    syntax: duration,
    help: "after a stop signal, requests still in flight after this long are cut off",
  }),
};

/** The options of `ebb webhook`. */
export const webhookOptions = {
  ...injectionOptions,
  ...webhookRegistryOptions,
  ...serving,
  ...certificates,
  ...shutdown,
  ...optionsOf("webhook"),
};

function parseListenAddress(given: string): ListenAddress | undefined {
  const [, bracketed, plain, digits = ""] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]*)):(\d{1,5})$/.exec(given) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65535) return undefined;
  return { host: bracketed || plain || undefined, port };
}
