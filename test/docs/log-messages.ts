/** A message of the log. */
export interface LogMessage {
  readonly text: string;
  readonly levels: readonly string[];
  /** Beside `level`, `severity`, `time` and `msg`. */
  readonly fields: readonly string[];
}

/** A failure, or a warning that is not in the log. */
export interface OtherMessage {
  /** `{name}` stands for a value. */
  readonly text: string;
  /** The exit codes with which ebb ends, or `warning`. */
  readonly kinds: readonly string[];
}

/** The fields of each line about a pod that the API server asked the webhook about. */
const ofReview = "requestUid namespace pod owner containers drained lookedUp reason warnings dryRun durationMs";
/** The fields of each line about a pod that the reaper judges. */
const ofPod = "namespace pod uid job reason why";

const inLog: Readonly<Record<string, readonly [levels: string, fields: string]>> = {
  // the app's start, signals and end
  "did not start the command: not ready in time": ["error", "reason"],
  "not ready in time: starting the command anyway": ["warn", "reason"],
  "the command did not start": ["error", "reason"],
  "the command exited and left processes behind: if they are the app, run it in the foreground": [
    "warn",
    "processes how",
  ],
  "SIGTERM is not in --stop-signal: forwarding it without a drain or a grace period": ["warn", "stopSignal"],
  "cannot send a signal": ["warn", "signal pid problem"],
  "grace period over: sent SIGKILL to what is left of the command": ["warn", "graceMs"],
  "grace period over: cannot send SIGKILL to what is left of the command": ["warn", "graceMs problem"],
  "the command still runs after SIGKILL: exiting without it": ["warn", "pid"],
  "processes still run after SIGKILL": ["warn", "pids problems"],
  "the ebb run that is this container's first process owns the sidecars: this one drains and quits none": ["info", ""],
  "started the command": ["info", "pid command"],
  "dropped a signal: the command has not started yet": ["info", "signal"],
  "received a stop signal: ending the wait": ["info", "signal"],
  "received a stop signal: draining": ["info", "signal pid atMostMs"],
  "received a stop signal: cutting the drain short": ["info", "signal pid"],
  "received a stop signal: forwarding it": ["info", "signal pid"],
  "the command exited and left processes behind in its group": ["info", "group graceMs"],
  done: ["info", "waitedMs ranMs drainedMs quitMs signal exitCode"],
  "received a signal": ["debug", "signal"],
  "forwarded a signal": ["debug", "signal pid"],
  // finding sidecars and waiting
  "no sidecar found": ["info warn", "lookedMs reason ports onLoopback how"],
  "did not wait for a proxy": ["info warn", "reason"],
  "--sidecar leaves out sidecars of this pod: they keep it running": ["warn", "sidecars by how"],
  "not ready in time: continuing anyway": ["warn", "reason"],
  found: ["info", "sidecars by native"],
  "waiting until ready": ["info", "target reason sidecar by how waitedMs limitMs"],
  ready: ["info", "target waitedMs"],
  "not ready yet": ["debug", "target reason"],
  "cannot read /proc/net/tcp: listening ports are unknown": ["debug", ""],
  "nothing to wait for: --sidecar none, and no target": ["info", ""],
  // holding a proxy
  "cannot tell ebb hold of this run: no proxy is held for it": ["warn", "reason"],
  "the proxy did not do what ebb hold asked for": ["warn", "sidecar request reason"],
  "nothing to hold for: no ebb run of another container runs its command": ["info", "how"],
  "holding the proxy until the apps have ended": ["info", "apps"],
  "closed the inbound listeners: the apps stop, and calls out go on": ["info", "sidecar request"],
  "told the agent to leave at its SIGTERM": ["info", "sidecar request"],
  "the apps have ended: letting the proxy go": ["info", "heldMs"],
  // shutting down sidecars
  "could not shut down the sidecar": ["warn error", "sidecar request outcome how status tookMs error"],
  "did not shut down a proxy": ["warn error", "reason"],
  "cannot tell which app container is the last: keeping the sidecars": ["warn", "reason how"],
  "asked the sidecar to exit": ["info", "sidecar request outcome status tookMs"],
  "the sidecar is gone, or was never here": ["info", "sidecar request outcome tookMs"],
  "left a native sidecar running: the kubelet stops it after the app": ["info", "sidecar"],
  "kept the sidecars running": ["info", "reason"],
  "the agent only waits after its SIGTERM: asked its Envoy to exit": ["info", "sidecar request"],
  "asked the sidecars to exit: waiting until they are gone": ["info", "atMostMs"],
  "nothing to shut down: --sidecar none, and neither --quit nor --signal-process": ["info", ""],
  // draining
  "drain ended": ["info warn", "sidecar outcome tookMs"],
  "could not drain the sidecar": ["warn", "sidecar outcome tookMs"],
  "--min-drain does not fit into the drain: shortened it": ["warn", "minDrainMs atMostMs fitsMs"],
  "the stop does not fit: shortened it": ["warn", "stop"],
  "no time to drain: --drain and --pod-grace leave none": ["warn", "drain podGrace"],
  "did not drain a proxy": ["warn error", "reason"],
  "did not drain or shut down a proxy": ["error", "reason"],
  "cannot make Envoy's health checks fail": ["debug warn", "sidecar request reason"],
  "cannot drain the listeners": ["debug warn", "sidecar request reason"],
  "cannot count the work in flight": ["debug warn", "sidecar reason"],
  "cannot count the work in flight: draining for the full time": ["warn", "sidecar atMostMs"],
  "Envoy still drains: asking it to exit, so that the kubelet restarts it": ["warn", "sidecar"],
  "Envoy was still draining for the previous container: made its health checks pass again": ["warn", "sidecar answer"],
  draining: ["info", "atMostMs"],
  "made Envoy's health checks fail: it still accepts connections": ["info", "sidecar request"],
  "draining the listeners": ["info", "sidecar request"],
  "counting the work in flight": ["info", "sidecar countedBy what"],
  "in flight": ["debug info", "sidecar requests connections"],
  "no Envoy to drain: still accepting connections while the pod leaves the endpoints": ["info", "forMs"],
  "cannot learn the direction of some listeners": ["debug", "sidecar reason"],
  // options and installation
  "ignored an unknown variable": ["warn", "variable didYouMean others"],
  "ignored an environment variable: it needs another one, which is not set": ["warn", "variable needs"],
  "disabled by an environment variable: does not wait for the sidecar or shut it down": ["warn", "variable reason"],
  "cannot read the pod's annotations": ["warn", "path reason"],
  "the copy cannot be executed here: its volume is mounted noexec": ["warn", "dest how"],
  "cannot ask the ebb in the pod": ["warn", "pod reason"],
  "cannot go on": ["error", "reason exitCode"],
  "cannot write the termination log": ["warn", "path reason"],
  "dropped log lines of ebb: stderr was not read": ["warn", "lines"],
  "a bug in ebb: please report it": ["error", "what error sidecar step from"],
  "installed ebb": ["info", "dest bytes"],
  // the webhook: pods
  "refused a pod": ["warn", ofReview],
  "created a pod without ebb": ["warn", ofReview],
  "left a pod unchanged": ["debug warn", ofReview],
  "injected ebb into a pod": ["info warn", ofReview],
  "removed ebb from a pod": ["info warn", ofReview],
  // the webhook: requests and certificates
  "refused a request": ["warn", "from status reason notLogged"],
  "the webhook has shut down": ["info warn", "drainedMs unanswered"],
  "cannot use the certificate": ["warn", "reason"],
  "cannot update the certificates": ["warn", "reason"],
  "cert-manager manages the caBundle: set --cert-dir": ["warn", "webhooks"],
  "cannot watch an object: retrying": ["warn", "reason"],
  "cannot read credentials of registries": ["warn", "path reason"],
  "cannot read the Secrets of pods": ["warn", "reason"],
  "the API server's certificate is not verified: insecure-skip-tls-verify is set": ["warn", "kubeconfig server"],
  "serving probes and metrics": ["info", "port"],
  "serving admission requests": ["info", "port expires"],
  "serving with a new certificate": ["info", "expires"],
  "created a CA": ["info", "reason"],
  "restored CAs in the Secret": ["info", "authorities"],
  "retired the old CA": ["info", ""],
  "updated the caBundle of the webhook configuration": ["info", "webhooks authorities"],
  "shutting down the webhook": ["info", "minDrainMs atMostMs connections"],
  // the reaper: pods
  "gave up: a sidecar still runs after all methods": ["error", ofPod],
  "asked a sidecar to exit": ["info warn", `${ofPod} container method result tookMs`],
  "cannot end the sidecars now: postponed": ["warn", ofPod],
  "pod is stuck": ["info", `${ofPod} dryRun`],
  "sidecars ended": ["info", ofPod],
  "pod gone": ["info", ofPod],
  "pod left alone": ["info", ofPod],
  // the reaper: selection and permissions
  "cannot reap: the pod or namespace needs a change": ["warn", "namespace pod reason why"],
  "no pod is selected: no namespace or pod has opted in": ["warn", "pods how"],
  "the reaper's account lacks permissions": ["error", "rights how"],
  "a reaping method is forbidden": ["warn", "method reason"],
  "cannot check the account's permissions": ["warn", "reason"],
  "cannot write an Event": ["warn", "namespace pod reason"],
  "cannot read namespaces: ignoring their label ebb.dev/reap": ["warn", "reason"],
  "no such namespace: waiting for it": ["warn", "namespace"],
  "cannot watch pods: retrying": ["warn", "reason"],
  "cannot watch namespaces: retrying": ["warn", "reason"],
  "starting the reaper": ["info", "server namespaces methods dryRun"],
  "all permissions are granted: continuing": ["info", ""],
};

const outside: Readonly<Record<string, string>> = {
  // options and operands
  "{option}: expected {what}, got {value}": "64",
  "{option}: expected {what}": "64",
  "{flags} cannot be used together: give one of them": "64",
  "{argument}: unexpected argument; {hint}usage: {usage}": "64",
  "unknown flag {flag}": "64",
  "--{flag} belongs to {commands}: call that, or leave the flag out": "64",
  "{word}: no such command{hint}": "64",
  "{flag}: a command comes first: write {call}": "64",
  "{call} works in Linux containers: call it in a pod, or in a container of ebb's image": "64",
  "run: {word} is a command of ebb: {calls}": "64",
  "help: {topic}: no such topic; {hint}": "64",
  "warning: ignored {variable}: ebb reads no such variable{hint}": "warning",
  // starting, waiting, installing
  "cannot start {command}: {reason}": "71 126 127",
  "{call} nothing names the address of {sidecar}, and {reason}: set {what}": "64",
  "not ready within {duration}: {reason}": "69",
  "cannot write the termination log {path}: {reason}": "warning",
  "hold: cannot read /proc/net/unix and /proc/self/ns/mnt, which show who else runs": "71",
  "install: {path} is a folder; did you mean {file}?": "64",
  "install: {path} is not a regular file: name another path": "64",
  "install: cannot read ebb itself: {reason}": "71",
  "install: cannot write {path}: {reason}": "71",
  "{limit} is {value}, and ebb needs {enough}: raise it ({how})": "71",
  "cannot start a thread: {reason}: raise it ({how})": "71",
  "cannot write to {stream}: {reason}": "71",
  "this is a bug in ebb, please report it: {stack}": "70",
  // ebb request
  "request: {method} {url}: HTTP {status}": "1",
  "request: {method} {url}: HTTP {status}: a redirect to {location}, which ebb does not follow": "warning",
  "request: {problem}; usage: ebb request [METHOD] PATH|URL": "64",
  "--body: cannot read stdin: {reason}": "64",
  "request: {method} {url}: {reason}": "69",
  "request: found no sidecar to ask: {reason}": "69",
  // ebb inject, manifests and image
  "{file}:{line}: {problem}": "65",
  "{file}:{line}: warning: {problem}": "warning",
  "{path}: not UTF-8 text": "65",
  "{path}: cannot access: {reason}": "71",
  "{path}: no file here ends with .yaml, .yml or .json": "64",
  "{flags}: not usable with --remove, which adds nothing: leave out {flags}": "64",
  "warning: --entrypoint {name}: no container or image has this name{hint}": "warning",
  "--set {option}: ebb run has no such option{hint}": "64",
  "image: expected {what}": "64",
  "image: {reason}": "69",
  "--ca-file: {reason}": "64",
  "--registry-config: {reason}": "64",
  "{flag}: give it before --": "64",
  "{flag}: needs other objects or rights: set {value} in the Helm chart": "64",
  "{flag}: needs other fields in the Deployment: edit what is printed": "64",
  "manifests: flags after -- are for one component: name webhook or reaper": "64",
  "manifests: warning: {problem}": "warning",
  // ebb timeline
  "timeline: no JSON line of ebb run or ebb drain: try {call}": "65",
  "timeline: warning: {source} is one row, but has the lines of several containers: name each by kubectl logs --prefix":
    "warning",
  "timeline: warning: left out {lines}: a timeline has at most {limit} lines of ebb": "warning",
  "timeline: expected logs on stdin, or FILE; ebb timeline --help has examples": "64",
  // the cluster: kubectl ebb, doctor, reaper, webhook
  "no kubeconfig: {remedy}": "64",
  "kubeconfig {path}: {reason}": "64 69",
  "kubeconfig: exec plugin {command} failed: {reason}": "69",
  "{path}: {reason}; the pod needs a ServiceAccount with automountServiceAccountToken": "69",
  "cannot read from the API server: {reason}": "69",
  "kubectl ebb: {reason}": "69",
  "this account may not read anything that ebb doctor looks at: name a namespace that it may read (--namespace), or grant it the permissions in ebb help doctor":
    "69",
  "stopped by a signal before the whole cluster was read; run it again": "69",
  '--namespace: there is no namespace "{name}"; kubectl get namespaces lists them': "64",
  "pod {name}: not in namespace {namespace}; kubectl get pods lists them": "64",
  "--{option}: cannot bind {address}: {reason}": "71",
};

const wordsIn = (list: string) => list.split(" ").filter((word) => word !== "");

/** What ebb logs, and with which fields: the interface of those who read its log. */
export const logMessages: readonly LogMessage[] = Object.entries(inLog).map(([text, [levels, fields]]) => ({
  text,
  levels: wordsIn(levels),
  fields: wordsIn(fields),
}));

/** What ebb prints outside of its log, in one sentence after `ebb: `. */
export const otherMessages: readonly OtherMessage[] = Object.entries(outside).map(([text, kinds]) => ({
  text,
  kinds: wordsIn(kinds),
}));
