import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, type Ended, ebb, type StartOptions, temporaryFolder } from "../../harness/ebb.ts";
import type { Port } from "../../stand-in/sidecars.ts";

/** Whether this machine lets us make a network of our own: that needs root. */
export const canHaveNetwork = canUnshare("--net", "--pid", "--fork", "--mount-proc", "--kill-child");

export interface InNetwork extends Ended {
  /** `PORT METHOD /path` of each request to a sidecar, but for probes. */
  readonly requests: readonly string[];
}

/** Returns the field `sidecars` of the log's line `ebb: found`; undefined without such a line. */
export function found({ log }: InNetwork): unknown {
  return log.find(({ msg }) => msg === "ebb: found")?.sidecars;
}

/** Returns the requests that are no GET. */
export function posts({ requests }: InNetwork): readonly string[] {
  return requests.filter((request) => !request.includes(" GET "));
}

/**
 * The owner of the network according to /etc/hosts as the kubelet writes it: the pod (`own`), or the node, with
 * hostNetwork (`node`). `rewritten`: as `own`, but empty for the first 500 ms, because the kubelet is about to start
 * another container. `copied`: /etc/hosts is the pod's copy of a kubelet's. `machine`: it is this machine's, which no
 * kubelet has written.
 */
export type Hosts = "own" | "node" | "rewritten" | "copied" | "machine";

const EMPTY_FOR_MS = 500;

/** kubernetes pkg/kubelet/kubelet_pods.go: managedHostsHeader, managedHostsHeaderWithHostNetwork. */
const headers = {
  own: "# Kubernetes-managed hosts file.",
  node: "# Kubernetes-managed hosts file (host network).",
  rewritten: "# Kubernetes-managed hosts file.",
  copied: "# Kubernetes-managed hosts file.",
};

/** Writes an /etc/hosts as the kubelet does, at a path like the kubelet's below `folder`, and returns that path. */
export function writeHosts(folder: string, hosts: Exclude<Hosts, "machine">): string {
  const uid = "0b6b1c5e-7a0f-4a4c-9c4e-2f6a0c1d2e3f";
  const path = hosts === "copied" ? join(folder, "hosts") : join(folder, "kubelet", "pods", uid, "etc-hosts");
  mkdirSync(dirname(path), { recursive: true });
  const text = `${headers[hosts]}\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n`;
  writeFileSync(path, hosts === "rewritten" ? "" : text);
  if (hosts === "rewritten") setTimeout(() => writeFileSync(path, text), EMPTY_FOR_MS);
  return path;
}

/** The command that runs another one in a network and with processes of its own. */
export const namespaces = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"];

export interface NetworkOptions extends Omit<StartOptions, "through"> {
  /** By default `own`. */
  readonly hosts?: Hosts;
  /** A shell command that runs beside ebb, whose path is `$1`. */
  readonly beside?: string;
  /** A shell command that changes the network before the sidecars start. */
  readonly change?: string;
  /** A command that becomes ebb, whose path and arguments are put behind it. */
  readonly via?: readonly string[];
}

/**
 * Runs ebb to its end, as PID 1, in a network of its own in which sidecars listen on the ports that they really have.
 * Those without `afterMs` listen before ebb starts. Needs root.
 */
export async function ebbBeside(
  sidecars: readonly Port[],
  args: readonly string[],
  { hosts = "own", beside = ":", change = ":", via = [], ...options }: NetworkOptions = {},
): Promise<InNetwork> {
  using folder = temporaryFolder();
  const mount = hosts === "machine" ? "" : `mount --bind ${writeHosts(folder.path, hosts)} /etc/hosts || exit 99; `;
  const fifo = join(folder.path, "listening");
  const script = `${mount}${change} || exit 98; mkfifo ${fifo}; "$0" "$1" "$2" ${fifo} & read -r _ < ${fifo}; shift 2; (${beside}) & exec "$@"`;
  const program = join(import.meta.dirname, "../../stand-in/sidecars.ts");
  const through = [
    ...[...namespaces, childPath(), "loopback", "/bin/sh", "-c", script],
    ...[process.execPath, program, JSON.stringify(sidecars), ...via],
  ];
  const ended = await ebb(args, { ...options, through });
  const requests = [...ended.stderr.matchAll(/^sidecar (.*)$/gm)].map(([, request]) => request as string);
  return { ...ended, requests };
}
