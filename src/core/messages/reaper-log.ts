import type { Catalogue } from "./message.ts";

const by = "reaper";
const reason = "what the API server or the network said";
const judged = {
  namespace: "the pod's namespace",
  pod: "its name",
  uid: "its UID",
  job: "the Job that it belongs to",
  reason: "why it is stuck or left, one word: ebb help reaper lists them",
} as const;
const audit = { ...judged, why: "the same in words" } as const;

export const reaperMessages = {
  "starting the reaper": {
    level: "info",
    by,
    fields: {
      server: "the API server's URL",
      namespaces: "which; none: all",
      methods: "the methods that it uses",
      dryRun: "whether it only looks",
    },
  },
  "pod is stuck": { level: "info", by, fields: { ...audit, dryRun: "true: nothing is done" } },
  "sidecars ended": { level: "info", by, fields: audit },
  "pod gone": { level: "info", by, fields: audit },
  "pod left alone": { level: "info", by, fields: audit },
  "stopped before the sidecars had ended": { level: "info", by, fields: audit },
  "all permissions are granted: continuing": { level: "info", by, fields: {} },
  "asked a sidecar to quit": {
    level: ["info", "warn"],
    by,
    fields: {
      ...judged,
      "why?": "why the sidecar did not take it",
      container: "the sidecar's",
      method: "by which method",
      result: "taken, refused or unavailable",
      tookMs: "milliseconds",
    },
    cause: "As a warning: the method did not work, or there was no answer. The next one is tried.",
    cure: "Read the reason. 403: grant the permission (ebb manifests reaper). No such command in the sidecar: the reaper tries the next method.",
  },
  "gave up: a sidecar still runs after all methods": {
    level: "error",
    by,
    fields: audit,
    cause: "Each method was tried, several times. The reaper leaves the pod alone from now on.",
    cure: "Read the result of each method. Name a command by the annotation ebb.dev/reap-exec.CONTAINER, allow another method by --methods or --image, or delete the pod.",
  },
  "cannot end the sidecars now: postponed": {
    level: "warn",
    by,
    fields: audit,
    cause: "The API server or the node's kubelet does not answer. The reaper tries again, at growing intervals.",
    cure: "Look at the node: kubectl get node, and its kubelet's log.",
  },
  "cannot reap: the pod or namespace needs a change": {
    level: "warn",
    by,
    fields: { namespace: "its name", "pod?": "its name", reason: "one word", why: "what to change" },
    cause:
      "A label or annotation has a bad value, two contradict each other, no method is left, or a permission is missing.",
    cure: "Do what the reason says. It is an Event on the pod, too: NotReaped.",
  },
  "no pod is selected: no namespace or pod has opted in": {
    level: "warn",
    by,
    fields: { pods: "how many run", how: "what to do" },
    cause: "The reaper runs, but --all-jobs is not set, and nothing has the label ebb.dev/reap=true.",
    cure: "kubectl label namespace NAME ebb.dev/reap=true, or run it with --all-jobs.",
  },
  "a reaping method is forbidden": {
    level: "warn",
    by,
    fields: { method: "which", reason },
    cause: "The reaper's account may not use it (HTTP 403): no Role for it, or an admission policy.",
    cure: "Allow it (ebb manifests reaper prints the Role), or leave it out of --methods.",
  },
  "another pod took the name while the command ran": {
    level: "error",
    by,
    fields: {
      uid: "the pod that was meant",
      namespace: "its namespace",
      name: "its name",
      now: "the UID of the other one",
      method: "what ran",
    },
    cause: "A pod was replaced by one of the same name within half a second: the command may have run in the new one.",
    cure: "Check the new pod. If this repeats for pods with fixed names (StatefulSets), leave exec out of --methods.",
  },
  "the reaper's account lacks permissions": {
    level: "error",
    by,
    fields: { rights: "which", how: "how to grant them" },
    cause: "The API server says that this account may not do what the options need.",
    cure: "ebb manifests reaper with the same options, and kubectl apply. The reaper sees it within 5 s.",
  },
  "cannot check the account's permissions": {
    level: "warn",
    by,
    fields: { reason },
    cause: "The API server does not answer SelfSubjectAccessReviews. The reaper uses the permissions that it saw last.",
    cure: "None is needed if it passes: the reaper asks again every 30 s.",
  },
  "cannot write an Event": {
    level: "warn",
    by,
    fields: { namespace: "the pod's namespace", pod: "its name", reason },
    cause: "A permission on events.k8s.io is missing, or the API server does not answer. The work goes on.",
    cure: "403: apply the manifests again.",
  },
  "cannot read Events": {
    level: "warn",
    by,
    fields: { namespace: "the pod's namespace", pod: "its name", reason },
    cause:
      "A permission on events.k8s.io is missing: a sidecar may be asked twice, which does no harm. Or the API server does not answer: the reaper reads them again after 5 s.",
    cure: "403: apply the manifests again.",
  },
  "cannot read namespaces: ignoring their label ebb.dev/reap": {
    level: "warn",
    by,
    fields: { reason },
    cause: "The account may not get or list namespaces, so that only the labels of pods count.",
    cure: "Apply the ClusterRole of ebb manifests reaper, or label the pods.",
  },
  "no such namespace: waiting for it": {
    level: "warn",
    by,
    fields: { namespace: "its name" },
    cause: "--namespace names one that does not exist.",
    cure: "Correct the name, or create it: the reaper looks again at each --resync.",
  },
  "cannot watch pods: retrying": {
    level: "warn",
    by,
    fields: { reason },
    cause: "The account may not list or watch pods, or the API server does not answer.",
    cure: "403: apply the manifests again. Otherwise wait: the reaper tries again, at growing intervals.",
  },
  "cannot watch namespaces: retrying": {
    level: "warn",
    by,
    fields: { reason },
    cause: "The API server does not answer.",
    cure: "Wait: the reaper tries again, at growing intervals.",
  },
} as const satisfies Catalogue;
