import { changed, list, option, optional } from "../../../shared/cli/core/option.ts";
import { options, optionsOf } from "../../../shared/cli/core/options.ts";
import { anyText, duration, positive, syntax } from "../../../shared/cli/core/syntax.ts";
import { isDnsSubdomain } from "../../../shared/core/dns-name.ts";
import type { ListenAddress } from "../../../shared/core/host-port.ts";
import { webhookRegistryOptions } from "../../image/core/registry-options.ts";
import { injectionOptions } from "../../inject/core/injection-options.ts";

const DAY_MS = 86_400_000;

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
  clientCa: optional({
    flag: "client-ca",
    group: "serving",
    value: "FILE",
    syntax: anyText,
    secret: false,
    isRare: true,
    help: "serve only clients with a certificate of this CA (PEM); the API server then needs an AdmissionConfiguration",
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
  secret: nameOption("secret", "ebb-webhook-certificates", "the Secret that holds ebb's own CA and certificate"),
  service: nameOption(
    "service",
    "ebb-webhook",
    "the Service that the API server calls; the certificate is for its name",
  ),
  webhookConfig: nameOption(
    "webhook-config",
    "ebb-webhook",
    "the MutatingWebhookConfiguration whose caBundle ebb keeps up to date",
  ),
  certificateNames: list({
    flag: "certificate-names",
    group: "certificates",
    value: "NAME[,NAME]",
    syntax: syntax((given) => (/^[^\s,]+$/.test(given) ? given : undefined), "a host name or an IP address"),
    secret: false,
    help: "another host name or address for the certificate",
  }),
  certificateValidity: option({
    flag: "certificate-validity",
    group: "certificates",
    value: "D",
    initial: 30 * DAY_MS,
    initially: "30d",
    syntax: positive,
    isRare: true,
    help: "how long a certificate is valid; ebb renews it after two thirds of that",
  }),
  caValidity: option({
    flag: "ca-validity",
    group: "certificates",
    value: "D",
    initial: 365 * DAY_MS,
    initially: "365d",
    syntax: positive,
    isRare: true,
    help: "how long the CA is valid; while it is renewed, the old one is trusted too",
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

function nameOption(flag: string, initial: string, help: string) {
  return option({
    flag,
    group: "certificates",
    value: "NAME",
    initial,
    syntax: name,
    secret: false,
    isRare: true,
    help,
  });
}

function parseListenAddress(given: string): ListenAddress | undefined {
  const [, bracketed, plain, digits = ""] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]*)):(\d{1,5})$/.exec(given) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65535) return undefined;
  return { host: bracketed || plain || undefined, port };
}
