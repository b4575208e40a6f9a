import type { Catalogue } from "./message.ts";

const sidecar = "the sidecar's name";
const quitFields = {
  sidecar,
  request: "what was sent",
  outcome: "exited, or what else happened",
  "status?": "the HTTP status",
  tookMs: "milliseconds",
} as const;
const doubt = "which port suggests it, why that is not enough, and what to set";

/** Of sidecars: how they are found, waited for and quit; and of any command's start. */
export const podMessages = {
  found: {
    level: "info",
    by: "pod",
    fields: { sidecars: "their names", by: "how they were found", native: "true if at least one is a native sidecar" },
  },
  "no sidecar found": {
    level: "info",
    by: "pod",
    fields: { lookedMs: "milliseconds", "reason?": "why no port is believed on this network, and what to set" },
  },
  "not ready yet": {
    level: "debug",
    by: "run, wait",
    fields: { target: "what was asked", reason: "why it is not ready" },
  },
  "waiting until ready": {
    level: "info",
    by: "run, wait",
    fields: {
      target: "what was asked",
      reason: "why it is not ready: what it says",
      "sidecar?": "the sidecar's name",
      "by?": "how the sidecar was found",
      "how?": "what to do",
      waitedMs: "milliseconds since it was first asked",
      "limitMs?": "milliseconds (--wait-timeout)",
    },
  },
  ready: {
    level: "info",
    by: "run, wait",
    fields: { target: "what was asked", waitedMs: "milliseconds since it was first asked" },
  },
  "did not wait for a proxy": { level: "info", by: "run, wait", fields: { reason: doubt } },
  "left a native sidecar running: the kubelet stops it after the app": {
    level: "info",
    by: "quit",
    fields: { sidecar },
  },
  "installed ebb": {
    level: "info",
    by: "install",
    fields: { dest: "the file", bytes: "its size", sha256: "its digest, in hex" },
  },
  "ebb is already installed": {
    level: "info",
    by: "install",
    fields: { dest: "the file", bytes: "its size", sha256: "its digest, in hex" },
  },
  "cannot read /proc/net/tcp: listening ports are unknown": { level: "debug", by: "pod", fields: {} },
  "told the sidecar to quit": { level: "info", by: "run, quit, drain", fields: quitFields },
  "could not make the sidecar quit": {
    level: ["warn", "error"],
    by: "run, quit, drain",
    fields: { ...quitFields, "error?": "a bug in ebb" },
    cause: "The sidecar refused the quit, did not answer, or still runs. The outcome says which.",
    cure: "HTTP 404 or 403: the quit endpoint is off; the outcome names the setting that turns it on. Out of time: raise --quit-timeout. Until then --signal-process NAME ends it by a signal (shareProcessNamespace: true), or the reaper does.",
  },
  "did not tell a proxy to quit": {
    level: ["warn", "error"],
    by: "run, quit",
    fields: { reason: doubt },
    cause:
      "Only a port suggests a proxy: on a network that may be the node's no port is believed; in the pod's own, its admin interface does not show what it is.",
    cure: "Do what the reason says: --sidecar NAME, --admin URL, or --host-network=false in a network of the pod's own.",
  },
  "did not drain a proxy": {
    level: ["warn", "error"],
    by: "run, drain",
    fields: { reason: doubt },
    cause:
      "Only a port suggests a proxy: on a network that may be the node's no port is believed; in the pod's own, its admin interface does not show what it is.",
    cure: "Do what the reason says: --sidecar NAME, --admin URL, or --host-network=false in a network of the pod's own.",
  },
  "did not drain a proxy or tell it to quit": {
    level: "error",
    by: "drain",
    fields: { reason: doubt },
    cause: "Only a port suggests a proxy, as above. ebb drain --quit left it alone.",
    cure: "Do what the reason says: --sidecar NAME, --admin URL, or --host-network=false in a network of the pod's own.",
  },
  "cannot read the pod's annotations": {
    level: "warn",
    by: "pod",
    fields: { path: "the file (--pod-annotations)", reason: "what the system said" },
    cause: "The file of the downward API is not a regular file, is above 1 MiB, or may not be read by this user.",
    cure: "Mount metadata.annotations there as a downwardAPI volume, or name the right file by --pod-annotations.",
  },
  "ignored an unknown EBB_ variable": {
    level: "warn",
    by: "all",
    fields: { variable: "its name", "didYouMean?": "the variable with the most similar name" },
    cause: "No option of ebb reads this EBB_ variable: a typing error, or an option of another version.",
    cure: "Correct its name: ebb help options lists them all, ebb config shows what is set.",
  },
  "ignored an environment variable: another one is not set": {
    level: "warn",
    by: "scuttle, envoy-preflight",
    fields: { variable: "its name", needs: "the variable that is not set" },
    cause: "A variable of another tool means nothing without the one that names the proxy's admin interface.",
    cure: "Set the variable that is needed, or remove the other.",
  },
  "disabled by an environment variable: does not wait for the sidecar or quit it": {
    level: "warn",
    by: "linkerd-await",
    fields: { variable: "its name", reason: "its value" },
    cause: "LINKERD_AWAIT_DISABLED or LINKERD_DISABLED is set.",
    cure: "None is needed if the pod has no proxy. Otherwise remove the variable.",
  },
  "the copy cannot be executed here: its volume is mounted noexec": {
    level: "warn",
    by: "install",
    fields: { dest: "the file", how: "what to do" },
    cause: "In this container the volume is mounted noexec: no file on it can be executed. The copy is complete.",
    cure: "If the app's container mounts the volume with noexec too, use an emptyDir, or remove noexec from its mount options.",
  },
  "dropped log lines of ebb: stderr was not read": {
    level: "warn",
    by: "all",
    fields: { lines: "how many" },
    cause: "stderr was not read for a while: ebb keeps 64 KiB and drops later lines, so that no log holds up the app.",
    cure: "Look at the node's container runtime and disk, or at what reads the pipe.",
  },
  "a bug in ebb: please report it": {
    level: "error",
    by: "all",
    fields: {
      what: "what failed",
      error: "the error, with its stack",
      "sidecar?": "the sidecar's name",
      "step?": "the step of its drain",
      "from?": "the client's address",
    },
    cause:
      "An error that ebb does not expect. ebb goes on: the command's exit code and the other sidecars are not affected, but what failed was not done.",
    cure: "Report the whole line, with the output of ebb --version.",
  },
} as const satisfies Catalogue;
