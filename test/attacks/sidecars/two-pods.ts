import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../../build/setup/envoy.mjs";
import { writeHosts } from "../../binary/sidecars/own-network.ts";
import { childPath } from "../../compiled.ts";
import { configurationOf } from "../../envoy/bootstrap.ts";
import { type Ended, ebb, temporaryFolder } from "../../harness.ts";

/** A real Envoy in one of two pods that share the node's network. */
export interface PodEnvoy {
  /** The pod: ebb's own, or the other one. */
  readonly pod: "this" | "other";
  /** The port of its admin interface. */
  readonly port: number;
  /** Its node.id; undefined for an Envoy without node. */
  readonly id?: string;
}

export interface Seen extends Ended {
  /** The state of each Envoy when ebb has ended: LIVE or DRAINING; undefined if it is gone. */
  readonly states: readonly (string | undefined)[];
}

/** Makes what is a pod's own: processes, mounts, host name. The network is shared. */
const podNamespaces = "unshare --pid --fork --kill-child --mount-proc --mount --uts";

/**
 * Runs ebb to its end in one pod, beside Envoys of both pods, on the network of their node. Needs root. Rejects if
 * Envoy is not installed.
 */
export async function ebbBesidePods(
  envoys: readonly PodEnvoy[],
  args: readonly string[],
  { env = {}, program }: { readonly env?: Readonly<Record<string, string>>; readonly program?: string } = {},
): Promise<Seen> {
  const envoy = envoyPath();
  if (envoy === undefined) throw new Error(envoyMissing);
  using folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const starts = envoys.flatMap(({ port, id }, index) => {
    const node = id === undefined ? {} : { node: { id, cluster: "x" } };
    const plan = { admin: { host: "127.0.0.1", port }, listenerPort: 0, upstreamPort: 1, ...node };
    writeFileSync(at(`${index}.json`), JSON.stringify(configurationOf(plan).bootstrap));
    const flags = `--disable-hot-restart --concurrency 1 --log-level off --config-path ${at(`${index}.json`)}`;
    return [`${podNamespaces} ${envoy} ${flags} --admin-address-path ${at(`${index}.admin`)} &`];
  });
  const waits = envoys.map(
    (_, index) => `until [ -s ${at(`${index}.admin`)} ]; do read -r -t 0.02 _ <> ${at("pause")}; done`,
  );
  const asks = envoys.map(({ port }, index) => {
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET /ready HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' >&3 && grep -aoE "^(LIVE|DRAINING)" <&3`;
    return `echo "envoy ${index} $( { ${ask}; } 2>/dev/null)" >&2`;
  });
  const inPod = `${podNamespaces} /bin/sh -c 'hostname pod-a; mount --bind ${writeHosts(folder.path, "node")} /etc/hosts; exec "$0" "$@"'`;
  const lines = [`mkfifo ${at("pause")}`, ...starts, ...waits, `${inPod} "$0" "$@"; code=$?`, ...asks, "exit $code"];
  const network = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"];
  const through = [...network, childPath(), "loopback", "/bin/bash", "-c", lines.join("\n")];
  const ended = await ebb(args, { through, env, ...(program && { program }) });
  const states = envoys.map((_, index) => new RegExp(`^envoy ${index} (\\w+)`, "m").exec(ended.stderr)?.[1]);
  return { ...ended, states };
}
