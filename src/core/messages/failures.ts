import type { FailureCatalogue } from "./message.ts";

/** Of what ebb could not do: exit codes 69 and above. */
export const failures = {
  "not ready within {duration}: {reason}": {
    exit: 69,
    cause: "ebb wait: a sidecar or target was not ready within --wait-timeout. The reason has the last answer of each.",
    cure: "connection refused: it is not there (--sidecar none) or elsewhere (--admin URL). HTTP 503: it starts; raise --wait-timeout, and look at its log.",
  },
  "request: {method} {url}: {reason}": {
    exit: 69,
    cause: "The server did not answer, or not in time.",
    cure: "Check host and port (ebb status shows what listens), or raise --timeout.",
  },
  "request: found no proxy that is surely this pod's: {reason}": {
    exit: 69,
    cause: "A path alone is sent to the sidecar's admin interface, and none is known to be this pod's.",
    cure: "Name it: --admin URL or --port PORT.",
  },
  "cannot read from the API server: {reason}": {
    exit: 69,
    cause: "The API server did not answer, or refused a request that ebb cannot do without.",
    cure: "401: renew the credentials. 403: grant the permission (ebb manifests prints the Roles). Else check the address: kubectl cluster-info.",
  },
  "stopped by a signal before the whole cluster was read; run it again": {
    exit: 69,
    cause: "A stop signal came while ebb doctor or ebb reaper --once read the cluster. Nothing was changed.",
    cure: "Run it again; in a Job, raise activeDeadlineSeconds.",
  },
  "kubeconfig: exec plugin {command} failed: {reason}": {
    exit: 69,
    cause: "The program that the kubeconfig names for credentials is not there, failed, or answered something else.",
    cure: "Run it by hand, and log in again. In an image it has to be installed.",
  },
  "{path}: {reason}; the pod needs a ServiceAccount with automountServiceAccountToken": {
    exit: 69,
    cause: "The token or the CA of the pod's ServiceAccount cannot be read.",
    cure: "Set automountServiceAccountToken: true, and let ebb's user read the volume (fsGroup).",
  },
  "cannot start {command}: {reason}": {
    exit: [126, 127, 71],
    cause:
      "The command, its interpreter or its loader is not there (127), it cannot be executed (126), or the system has no process or memory left (71).",
    cure: "Do what the reason says: it names the file that is missing, the processor, or the mode. 71: raise the pod's limits.",
  },
  "{word}: not a command of ebb, and no such program in PATH{hint}; ebb --help lists the commands": {
    exit: 127,
    cause: "The first word is neither.",
    cure: "Give the program's path, or correct the word.",
  },
  "--{option}: cannot bind {address}: {reason}": {
    exit: 71,
    cause:
      "--listen or --health-listen: the port is in use, is below 1024 without the capability, or the address is not this pod's.",
    cure: "Choose another port, or end what listens there: ebb status.",
  },
  "install: cannot read ebb itself: {reason}": {
    exit: 71,
    cause: "The executable may not be read by this user.",
    cure: "Make the file readable: COPY --chmod=755.",
  },
  "install: cannot write {path}: {reason}": {
    exit: 71,
    cause: "The volume is read-only, full, not there, or not writable for this user. The reason says which.",
    cure: "Do what the reason says: mount the volume, without readOnly, and set fsGroup.",
  },
  "install: {path}: the copy differs from the original (SHA-256 {found}); install again": {
    exit: 71,
    cause: "What was read back is not what was written: a faulty disk or file system. The file was removed.",
    cure: "Try again on another volume.",
  },
  "{path}: cannot access: {reason}": {
    exit: 71,
    cause: "ebb inject: the file is not there, or may not be read or written.",
    cure: "Correct the path or the file's mode.",
  },
  "cannot write to {stream}: {reason}": {
    exit: 71,
    cause: "stdout or stderr is a full disk, or was closed.",
    cure: "Make room, or send the output elsewhere.",
  },
} as const satisfies FailureCatalogue;

/** Those that no `Failure` has: of `ebb inject`, each in a line; of `report` (invoke.ts); of the start's own C code (native/limits.c). */
export const otherFailures = {
  "request: {method} {url}: HTTP {status}": {
    exit: 1,
    cause: "ebb request: the server answered with 400 or more. Its answer is on stdout.",
    cure: "Read the answer.",
  },
  "{file}:{line}: {problem}": {
    exit: 65,
    cause: "ebb inject: the manifest is no YAML, or a pod in it opted in and cannot be changed. Nothing was written.",
    cure: "Correct the line that is named.",
  },
  "this is a bug in ebb, please report it: {stack}": {
    exit: 70,
    cause: "An error that ebb does not expect, before the command was started.",
    cure: "Report it with the output of ebb --version.",
  },
  "{limit} is {value}, and ebb needs {enough}: raise it ({how})": {
    exit: 71,
    cause: "A limit of the process (ulimit) is too low for any command of ebb.",
    cure: "Raise it in whatever starts the container or its user.",
  },
  "cannot start a thread: {reason}: raise it ({how})": {
    exit: 71,
    cause: "The limit of processes of the user or the pod is used up.",
    cure: "Raise it (ulimit -u, podPidsLimit), or look for what leaves processes behind.",
  },
} as const satisfies FailureCatalogue;

/** Warnings outside the log: of commands that write none, and where the log is not there yet. */
export const plainWarnings = {
  "cannot write the termination log {path}: {reason}": {
    exit: [],
    cause: "--termination-log names a file that cannot be written, or a pipe without a reader.",
    cure: "Name another file: the container's terminationMessagePath, by default /dev/termination-log.",
  },
  "warning: ignored {variable}: ebb has no such option{hint}": {
    exit: [],
    cause: "ebb config: no option of ebb reads this EBB_ variable.",
    cure: "Correct its name: ebb help options.",
  },
  "manifests: warning: {problem}": {
    exit: [],
    cause: "The image is of another version than the ebb that prints the manifests: flags and permissions may differ.",
    cure: "Print them with the ebb of that image.",
  },
  "request: {method} {url}: HTTP {status}: a redirect to {location}, which ebb does not follow": {
    exit: [],
    cause: "ebb request: the server redirects, and ebb follows no redirect.",
    cure: "Request the other URL.",
  },
} as const satisfies FailureCatalogue;
