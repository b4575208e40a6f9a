import type { Catalogue } from "./message.ts";

const sidecar = "the sidecar's name";
const request = "what was sent";
const drainFields = { sidecar, outcome: "drained, exited, or what was left", tookMs: "milliseconds" } as const;

/** Of draining: by `ebb drain`, and by `ebb run --drain`. */
export const drainMessages = {
  draining: { level: "info", by: "drain", fields: { atMostMs: "milliseconds that it may take" } },
  "draining before stopping the command": {
    level: "info",
    by: "run",
    fields: { atMostMs: "milliseconds that it may take" },
  },
  "no Envoy to drain: still accepting connections while the pod leaves the endpoints": {
    level: "info",
    by: "run, drain",
    fields: { forMs: "milliseconds (--min-drain)" },
  },
  "--min-drain does not fit into the drain: shortened it": {
    level: "warn",
    by: "run, drain",
    fields: {
      minDrainMs: "--min-drain, milliseconds",
      atMostMs: "milliseconds that the drain may take",
      fitsMs: "milliseconds for which connections are accepted",
    },
    cause:
      "The time of the drain (--drain, or what --pod-grace leaves of it) is shorter than --min-drain, or only as long. Clients may still call the pod when it stops.",
    cure: "Raise --drain to a second more than --min-drain at least, and terminationGracePeriodSeconds and --pod-grace with it; or lower --min-drain.",
  },
  "made Envoy's health checks fail: it still accepts connections": {
    level: "info",
    by: "run, drain",
    fields: { sidecar, request },
  },
  "draining the listeners": { level: "info", by: "run, drain", fields: { sidecar, request } },
  "counting the work in flight": {
    level: "info",
    by: "run, drain",
    fields: { sidecar, countedBy: "listeners, clusters, connections or sockets", what: "the same in words" },
  },
  "in flight": {
    level: ["debug", "info"],
    by: "run, drain",
    fields: { sidecar, requests: "how many, with streams and WebSockets", connections: "how many that are not HTTP" },
  },
  "cannot learn the direction of some listeners": {
    level: "debug",
    by: "run, drain",
    fields: { sidecar, reason: "what Envoy answered" },
  },
  "drain ended": {
    level: ["info", "warn"],
    by: "run, drain",
    fields: drainFields,
    cause:
      "As a warning: Envoy exited before the drain, or before a count found it idle and without a preStop hook of its container, and what it had in flight was cut off. An ordinary sidecar gets its SIGTERM together with the app: a plain Envoy exits at once, a mesh's some seconds later.",
    cure: "Give the proxy's container a drain of its own as preStop hook, as ebb inject and the webhook do, or use a native sidecar: ebb help drain.",
  },
  "could not drain the sidecar": {
    level: "warn",
    by: "run, drain",
    fields: drainFields,
    cause: "Work was still in flight when the time was over, or could not be counted. It is cut off.",
    cure: "Raise --drain, and terminationGracePeriodSeconds with it; or bound the requests. Idle connections count if Envoy publishes no requests: --max-in-flight N allows for them.",
  },
  "no time to drain: --drain and --pod-grace leave none": {
    level: "warn",
    by: "drain",
    fields: { drain: "--drain, milliseconds", podGrace: "--pod-grace, milliseconds" },
    cause: "--drain is 0, or --pod-grace leaves no time for it.",
    cure: "Raise --drain, or --pod-grace and terminationGracePeriodSeconds.",
  },
  "cannot make Envoy's health checks fail": {
    level: ["debug", "warn"],
    by: "run, drain",
    fields: { sidecar, request, reason: "what Envoy answered" },
    cause: "Envoy's admin interface refused POST /healthcheck/fail, or did not answer. The drain goes on without it.",
    cure: "HTTP 403: allow the path (admin.allow_paths). No answer: look at Envoy's log, or name its admin interface by --admin.",
  },
  "cannot drain the listeners": {
    level: ["debug", "warn"],
    by: "run, drain",
    fields: { sidecar, request, reason: "what Envoy answered" },
    cause: "Envoy's admin interface refused POST /drain_listeners, or did not answer. It still accepts connections.",
    cure: "HTTP 403: allow the path (admin.allow_paths). No answer: look at Envoy's log, or name its admin interface by --admin.",
  },
  "cannot count the work in flight": {
    level: ["debug", "warn"],
    by: "run, drain",
    fields: { sidecar, reason: "what Envoy answered" },
    cause: "Envoy's statistics could not be read, or have none of the listeners. ebb asks again a few times.",
    cure: "Allow /stats (admin.allow_paths). What is counted, and where: ebb help drain.",
  },
  "cannot count the work in flight: draining for the full time": {
    level: "warn",
    by: "run, drain",
    fields: { sidecar, atMostMs: "milliseconds" },
    cause: "Several counts failed in a row, so that ebb waits until the time of the drain is over.",
    cure: "Allow /stats (admin.allow_paths), so that ebb can count and end earlier.",
  },
  "Envoy still drains: telling it to quit, so that the kubelet restarts it": {
    level: "warn",
    by: "run",
    fields: { sidecar },
    cause:
      "The container was restarted while its sidecar drained. Nothing undoes a drain of listeners: Envoy would ask every client to close its connection. So ebb tells Envoy to quit, and the kubelet restarts it (--restart-policy Always).",
    cure: "None is needed. Look why the container was restarted: a liveness probe that fails during the drain, most likely.",
  },
  "Envoy drains for a former container: made its health checks pass again": {
    level: "warn",
    by: "run",
    fields: { sidecar, answer: "what Envoy answered" },
    cause: "The container was restarted while its sidecar drained: Envoy's health checks still failed.",
    cure: "If the answer is HTTP 200, Envoy is ready again, but asks each client to close its connection until the pod is replaced; --restart-policy Always, if it is the pod's, lets ebb restart an ordinary sidecar. Look why the container was restarted: a liveness probe that fails during the drain, most likely.",
  },
} as const satisfies Catalogue;
