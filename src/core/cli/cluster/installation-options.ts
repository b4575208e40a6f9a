import { isDnsSubdomain } from "../../base/dns-name.ts";
import { parseDuration } from "../../base/duration.ts";
import { changed, list, type Options, option, optional } from "../option.ts";
import { boolean, oneOf, type Syntax, syntax } from "../syntax.ts";
import { injectionOptions } from "./injection-options.ts";
import { labelSelector, type Requirement } from "./label-selector.ts";
import { reaperOptions } from "./reaper-options.ts";
import { webhookOptions } from "./webhook-options.ts";

const group = "installation";

const objectName = syntax((name) => (isDnsSubdomain(name) ? name : undefined), "the name of an object in Kubernetes");

const installation = {
  namespace: optional({
    flag: "namespace",
    group,
    value: "NAME",
    initially: "its own, NAME-webhook or NAME-reaper",
    // a label of RFC 1123
    syntax: syntax(
      (name) => (isDnsSubdomain(name) && /^[^.]{1,63}$/.test(name) ? name : undefined),
      "a namespace's name",
    ),
    secret: false,
    help: "-n: install into this existing namespace; removing ebb does not delete it",
  }),
  name: option({
    flag: "name",
    group,
    value: "NAME",
    initial: "ebb",
    // a Service's name is a label of RFC 1035 with at most 63 characters; what is added to it needs 20
    syntax: syntax(
      (name) => (/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name) ? name : undefined),
      "at most 40 of a-z, 0-9 and -, with a letter first and no - at the end",
    ),
    secret: false,
    help: "prefix of all names; a second installation in the cluster needs another one",
  }),
  replicas: option({
    flag: "replicas",
    group,
    value: "N",
    initial: 2,
    initially: "2",
    syntax: syntax((count) => (/^[1-9]\d{0,2}$/.test(count) ? Number(count) : undefined), "a number from 1 to 999"),
    help: "number of the webhook's pods; the reaper has one",
  }),
  imagePullSecrets: list({
    flag: "image-pull-secret",
    group,
    value: "NAME",
    syntax: objectName,
    secret: false,
    help: "the Secret in --namespace with which ebb's own pods pull the image; injected pods need their own",
  }),
  priorityClass: optional({
    flag: "priority-class",
    group,
    value: "NAME",
    syntax: objectName,
    secret: false,
    help: "the PriorityClass of ebb's own pods, such as system-cluster-critical",
  }),
  networkPolicy: option({
    flag: "network-policy",
    group,
    initial: false,
    syntax: boolean,
    help: "add a NetworkPolicy for ebb's own pods",
  }),
  podMonitor: option({
    flag: "pod-monitor",
    group,
    initial: false,
    syntax: boolean,
    help: "add a PodMonitor of the Prometheus operator, which must be installed, for ebb's own pods",
  }),
  selector: requirements("selector", "only pods with these labels; webhook and reaper ignore others"),
};

const registration = {
  certManager: option({
    flag: "cert-manager",
    group,
    initial: false,
    syntax: boolean,
    help: "take the certificates from cert-manager, which must be installed; the webhook then has no CA and needs no permissions",
  }),
  namespaceSelector: requirements(
    "namespace-selector",
    "only pods in namespaces with these labels; the API server does not send others",
  ),
  failurePolicy: option({
    flag: "failure-policy",
    group,
    value: "Ignore|Fail",
    initial: "Ignore",
    syntax: oneOf(["Ignore", "Fail"]),
    help: "if the webhook does not answer: Ignore starts the pod without ebb, Fail refuses it",
  }),
  timeoutSeconds: option({
    flag: "timeout",
    group,
    value: "D",
    initial: 10,
    initially: "10s",
    syntax: syntax(parseSeconds, "whole seconds from 1s to 30s"),
    help: "how long the API server waits for the webhook's answer",
  }),
};

const lookingUp = {
  registrySecret: optional({
    flag: "registry-secret",
    group: "registries",
    value: "NAME",
    syntax: objectName,
    secret: false,
    help: "the Secret (dockerconfigjson) in the webhook's namespace with its own credentials for registries",
  }),
  registryCaConfigMap: optional({
    flag: "registry-ca-configmap",
    group: "registries",
    value: "NAME",
    syntax: objectName,
    secret: false,
    help: "the ConfigMap in the webhook's namespace whose ca.crt has the CAs of registries, beside the public ones",
  }),
};

const { image, imagePullPolicy, ...change } = injectionOptions;
const { registries, registryMirror, pullSecrets } = webhookOptions;
const { requestTimeout, maxRequestBytes, maxRequestsInFlight, logLevel, logFormat } = webhookOptions;
const { certificateValidity, caValidity } = webhookOptions;
const { namespace: reapNamespace, allJobs, after, methods, allowReapExec, dryRun } = reaperOptions;
const { concurrency, qps, burst, resync } = reaperOptions;

const reaping = {
  reapNamespace: changed(reapNamespace, {
    flag: "reap-namespace",
    help: "the reaper watches only these namespaces, and has permissions in no other",
  }),
  schedule: optional({
    flag: "schedule",
    group: "reaping",
    value: "CRON",
    initially: "a Deployment that watches",
    syntax: syntax(
      (given) => (/^(@[a-z]+( \S+)?|[\w*,/?-]+( [\w*,/?-]+){4})$/.test(given) ? given : undefined),
      'a CronJob schedule such as "*/5 * * * *" or @hourly',
    ),
    help: "run the reaper as a CronJob, which looks once each time",
  }),
};

const told = { image, imagePullPolicy, logLevel, logFormat };
const watching = { concurrency, qps, burst, resync };

/** The options of `ebb manifests` that it writes as flags into the webhook's Deployment. */
export const passedOn = {
  ...injectionOptions,
  registries,
  registryMirror,
  pullSecrets,
  requestTimeout,
  maxRequestBytes,
  maxRequestsInFlight,
  logLevel,
  logFormat,
};
/** The options that it writes there, too, if the webhook has its own CA. */
export const ofOwnCa = { certificateValidity, caValidity };
/** The options that it writes as flags into the reaper's Deployment or CronJob. */
export const toReaper = {
  allJobs,
  after,
  selector: installation.selector,
  methods,
  allowReapExec,
  dryRun,
  ...watching,
  ...told,
};

/** The options that mean nothing if no registry is asked. */
export const ofLookUpsAlone = { pullSecrets, ...lookingUp };

/** The options that mean nothing for the reaper. */
export const ofWebhookAlone = {
  ...change,
  registries,
  registryMirror,
  ...ofLookUpsAlone,
  requestTimeout,
  maxRequestBytes,
  maxRequestsInFlight,
  ...registration,
  ...ofOwnCa,
};
/** The options that mean nothing for the webhook. */
export const ofReaperAlone = { ...reaping, allJobs, after, methods, allowReapExec, dryRun, ...watching };

/** The options of `ebb manifests`. Only flags set them, no variables, so that the same call always prints the same. */
export const installationOptions = flagsOnly({ ...told, ...installation, ...ofWebhookAlone, ...ofReaperAlone });

function flagsOnly<O extends Options>(options: O): O {
  const entries = Object.entries(options).map(([key, option]) => [key, changed(option, { variables: [], also: [] })]);
  return Object.fromEntries(entries);
}

function requirements(flag: string, help: string) {
  const split: Syntax<readonly Requirement[]> = labelSelector;
  return option({ flag, group, value: "LABELS", initial: [], initially: "", syntax: split, secret: false, help });
}

function parseSeconds(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms % 1000 === 0 && ms >= 1000 && ms <= 30_000 ? ms / 1000 : undefined;
}
