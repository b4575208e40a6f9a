import type { Catalogue } from "./message.ts";

const by = "webhook";
const cluster = "webhook, reaper";
const reason = "what the API server or the network said";

const decision = {
  requestUid: "the request's UID",
  namespace: "the pod's namespace",
  pod: "its name, or its generateName",
  owner: "what made it, as Kind/name",
  containers: "the containers that were changed",
  reason: "why",
  warnings: "what kubectl shows to the pod's author",
  dryRun: "true if nothing is stored",
  durationMs: "milliseconds",
} as const;

/** Of the webhook; of its certificates, of the Lease and the watches, which the reaper has too. */
export const webhookMessages = {
  "serving probes and metrics": { level: "info", by: cluster, fields: { port: "of --health-listen" } },
  "serving admission requests": {
    level: "info",
    by,
    fields: { port: "of --listen", expires: "when the certificate does" },
  },
  "serving with a new certificate": { level: "info", by, fields: { expires: "when the certificate does" } },
  "shutting down the webhook": {
    level: "info",
    by,
    fields: {
      minDrainMs: "milliseconds that it still accepts",
      atMostMs: "milliseconds that it may take",
      connections: "how many are open",
    },
  },
  "the webhook has shut down": {
    level: ["info", "warn"],
    by,
    fields: { drainedMs: "milliseconds that it took", unanswered: "requests that were cut off" },
    cause: "As a warning: requests were under way when the time of --drain was over.",
    cure: "Raise --drain and terminationGracePeriodSeconds, or look why the API server keeps requests open.",
  },
  "created a CA": { level: "info", by, fields: { reason: "why a new one" } },
  "created a serving certificate": { level: "info", by, fields: { reason: "why a new one" } },
  "retired the old CA": { level: "info", by, fields: {} },
  "updated the caBundle of the webhook configuration": {
    level: "info",
    by,
    fields: { webhooks: "the configuration's name", authorities: "how many CAs it trusts" },
  },
  "acquired the lease: this replica leads": {
    level: "info",
    by: cluster,
    fields: { lease: "its name", identity: "this replica's" },
  },
  "left a pod unchanged": {
    level: ["debug", "warn"],
    by,
    fields: decision,
    cause: "As a warning: the pod did not opt in, and something in it looks like a mistake.",
    cure: "Read the warnings: they name the annotation, the value and what is expected.",
  },
  "injected ebb into a pod": {
    level: ["info", "warn"],
    by,
    fields: decision,
    cause: "As a warning: the pod was changed, but something in it is doubtful.",
    cure: "Read the warnings.",
  },
  "removed ebb from a pod": {
    level: ["info", "warn"],
    by,
    fields: decision,
    cause: "As a warning: ebb was taken out of the pod, but something in it is doubtful.",
    cure: "Read the warnings.",
  },
  "refused a pod": {
    level: "warn",
    by,
    fields: decision,
    cause: "The pod opted in, but cannot be changed: a container has no command, or an annotation has a bad value.",
    cure: "Read the reason. Set the container's command, or the annotation ebb.dev/entrypoint.CONTAINER.",
  },
  "created a pod without ebb": {
    level: "warn",
    by,
    fields: decision,
    cause: "The namespace opted in, but this pod cannot be changed. It is created as it is.",
    cure: 'Read the reason. Change the pod, or opt it out: ebb.dev/inject: "false".',
  },
  "refused a request": {
    level: "warn",
    by,
    fields: {
      from: "the client's address",
      status: "the HTTP status",
      reason: "why",
      "notLogged?": "how many before it were not logged",
    },
    cause:
      "The request does not come from the API server (another path, method, type or certificate), is too large or too slow, or ebb is over its limit.",
    cure: "408, 413, 429: raise --request-timeout, --max-request-bytes, or the number of replicas. Others: find the client by its address.",
  },
  "cannot use the certificate": {
    level: "warn",
    by,
    fields: { reason: "which file, and what is wrong with it" },
    cause:
      "The files in --cert-dir are not there, do not belong together, or have expired. The last good ones stay in use.",
    cure: "Look at the Secret and at what issues it (cert-manager: kubectl describe certificate).",
  },
  "cannot update the certificates": {
    level: "warn",
    by,
    fields: { reason },
    cause: "The Secret or the webhook configuration could not be read or written. ebb tries again.",
    cure: "403: apply the Role of ebb manifests again. Others: look at the API server. ebb doctor says when a certificate expires.",
  },
  "cert-manager manages the caBundle: set --cert-dir": {
    level: "warn",
    by,
    fields: { webhooks: "the configuration's name" },
    cause:
      "The webhook configuration has cert-manager's annotation, so that two would write its caBundle. ebb does not.",
    cure: "Give ebb cert-manager's Secret by --cert-dir, or remove the annotation.",
  },
  "the API server's certificate is not verified: insecure-skip-tls-verify is set": {
    level: "warn",
    by: "webhook, reaper, doctor",
    fields: { kubeconfig: "its path", server: "the API server's URL" },
    cause: "The kubeconfig has insecure-skip-tls-verify: true.",
    cure: "Set certificate-authority-data instead.",
  },
  "lost the lease: this replica no longer leads": {
    level: "warn",
    by: cluster,
    fields: { lease: "its name" },
    cause: "The Lease was not renewed in time: the API server did not answer, or this replica got too little CPU.",
    cure: "None is needed if another replica leads. If it repeats, look at the API server's latency and at the CPU limit.",
  },
  "cannot read or write the Lease": {
    level: "warn",
    by: cluster,
    fields: { reason },
    cause: "A permission on leases is missing, or the API server does not answer.",
    cure: "403: apply the manifests again, or check --lease-namespace.",
  },
  "cannot watch an object: retrying": {
    level: "warn",
    by,
    fields: { reason },
    cause: "The Secret or the webhook configuration cannot be watched.",
    cure: "403: apply the manifests again. Otherwise wait: ebb tries again, at growing intervals.",
  },
} as const satisfies Catalogue;
