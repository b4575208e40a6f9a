import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { type Started, type StartOptions, startEbb, temporaryFolder } from "../../harness/ebb.ts";
import type { DnsPlan } from "../../stand-in/dns.ts";
import { namespaces } from "./own-network.ts";

/** A pod's resolv.conf as the kubelet writes it, but for the servers. */
export const ofPod = "search default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n";

export interface BesideDns extends Omit<StartOptions, "through"> {
  readonly plan: DnsPlan;
  /** The text of /etc/resolv.conf but for the servers; by default `ofPod`. */
  readonly conf?: string;
}

/** Starts ebb in a network of its own, beside a DNS server. `hosts` is the path of its /etc/hosts. Needs root. */
export function startBesideDns(
  args: readonly string[],
  { plan, conf = ofPod, ...options }: BesideDns,
): Started & { readonly hosts: string } {
  const folder = temporaryFolder();
  const [fifo, resolv] = [join(folder.path, "listening"), join(folder.path, "resolv.conf")];
  const hosts = join(folder.path, "hosts");
  writeFileSync(resolv, `${conf}nameserver 127.0.0.1\n`);
  writeFileSync(hosts, "127.0.0.1 localhost\n");
  const mount = `mount --bind ${resolv} /etc/resolv.conf && mount --bind ${hosts} /etc/hosts || exit 99`;
  const script = `${mount}; mkfifo ${fifo}; "$0" "$1" "$2" ${fifo} & read -r _ < ${fifo}; shift 2; exec "$@"`;
  const dns = [process.execPath, join(import.meta.dirname, "../../stand-in/dns.ts"), JSON.stringify(plan)];
  const through = [...namespaces, childPath(), "loopback", "/bin/sh", "-c", script, ...dns];
  const started = startEbb(args, { ...options, through });
  const ended = started.ended.finally(() => folder[Symbol.dispose]());
  return { ...started, ended, hosts };
}

/** A question to the DNS server. */
interface Question {
  readonly type: string;
  readonly name: string;
  /** When it came, in ms after the first. */
  readonly atMs: number;
}

/** Returns the questions that a DNS server has written to stderr. */
export function questionsIn(stderr: string): readonly Question[] {
  const lines = stderr.matchAll(/^dns (\S+) (\S+) (\d+)$/gm);
  return [...lines].map(([, type = "", name = "", atMs]) => ({ type, name, atMs: Number(atMs) }));
}
