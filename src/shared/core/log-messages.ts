/**
 * The log's messages at warn. The page logs of the manual has the cause of each, and what to do. What runs imports only
 * the types.
 */
export const warnings = [
  // the command's life
  "SIGTERM is not in --stop-signal: forwarding it without a drain or a grace period",
  "the command exited and left processes behind: if they are the app, run it in the foreground",
  "not ready in time: starting the command anyway",
  "not ready in time: continuing anyway",
  "cannot send a signal",
  "grace period over: sent SIGKILL to what is left of the command",
  "grace period over: cannot send SIGKILL to what is left of the command",
  "the command still runs after SIGKILL: exiting without it",
  "processes still run after SIGKILL",
  "cannot tell which app container is the last: keeping the sidecars",
  "cannot tell ebb hold of this run: no proxy is held for it",
  "the proxy did not do what ebb hold asked for",
  // sidecars, and any command's start
  "no sidecar found",
  "did not wait for a proxy",
  "--sidecar leaves out sidecars of this pod: they keep it running",
  "could not shut down the sidecar",
  "did not shut down a proxy",
  "did not drain a proxy",
  "cannot read the pod's annotations",
  "ignored an unknown variable",
  "cannot write the termination log",
  "ignored an environment variable: it needs another one, which is not set",
  "disabled by an environment variable: does not wait for the sidecar or shut it down",
  "the copy cannot be executed here: its volume is mounted noexec",
  "dropped log lines of ebb: stderr was not read",
  "cannot ask the ebb in the pod",
  // draining
  "--min-drain does not fit into the drain: shortened it",
  "the stop does not fit: shortened it",
  "drain ended",
  "could not drain the sidecar",
  "no time to drain: --drain and --pod-grace leave none",
  "cannot make Envoy's health checks fail",
  "cannot drain the listeners",
  "cannot count the work in flight",
  "cannot count the work in flight: draining for the full time",
  "Envoy still drains: asking it to exit, so that the kubelet restarts it",
  "Envoy was still draining for the previous container: made its health checks pass again",
  // the webhook and certificates
  "the webhook has shut down",
  "left a pod unchanged",
  "injected ebb into a pod",
  "removed ebb from a pod",
  "refused a pod",
  "created a pod without ebb",
  "refused a request",
  "cannot read the Secrets of pods",
  "cannot use the certificate",
  "cannot read credentials of registries",
  "cannot update the certificates",
  "cert-manager manages the caBundle: set --cert-dir",
  "the API server's certificate is not verified: insecure-skip-tls-verify is set",
  "cannot watch an object: retrying",
  // the reaper
  "asked a sidecar to exit",
  "cannot end the sidecars now: postponed",
  "cannot reap: the pod or namespace needs a change",
  "no pod is selected: no namespace or pod has opted in",
  "a reaping method is forbidden",
  "cannot check the account's permissions",
  "cannot write an Event",
  "cannot read namespaces: ignoring their label ebb.dev/reap",
  "no such namespace: waiting for it",
  "cannot watch pods: retrying",
  "cannot watch namespaces: retrying",
] as const;

/** Those at error, of which some are warnings elsewhere. */
export const errors = [
  // the command's life
  "did not start the command: not ready in time",
  "the command did not start",
  // sidecars, and any command's start
  "could not shut down the sidecar",
  "did not shut down a proxy",
  "did not drain a proxy",
  "did not drain or shut down a proxy",
  "a bug in ebb: please report it",
  "cannot go on",
  // the reaper
  "gave up: a sidecar still runs after all methods",
  "the reaper's account lacks permissions",
] as const;

export type Warning = (typeof warnings)[number];
export type ErrorMessage = (typeof errors)[number];

/**
 * The messages that `ebb timeline` reads, with the phase that each begins. The code that logs them repeats the texts:
 * test/envoy/timeline.test.ts reads what a real run logs.
 */
export const milestones = {
  "waiting until ready": "wait",
  ready: "wait",
  "started the command": "run",
  draining: "drain",
  "received a stop signal: draining": "drain",
  "in flight": "drain",
  "drain ended": "drain",
  "could not drain the sidecar": "drain",
  "received a stop signal: ending the wait": "stop",
  "received a stop signal: cutting the drain short": "stop",
  "received a stop signal: forwarding it": "stop",
  "asked the sidecar to exit": "quit",
  "could not shut down the sidecar": "quit",
  "the sidecar is gone, or was never here": "quit",
  done: "end",
} as const;
