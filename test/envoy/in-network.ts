import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { namespaces, writeHosts } from "../binary/sidecars/own-network.ts";
import { childPath } from "../harness/compiled.ts";
import { type Ended, ebb, temporaryFolder } from "../harness/ebb.ts";
import { configurationOf } from "./bootstrap.ts";

/** An Envoy in the network of `ebbBesideEnvoys`: its admin address, and its `node`. */
export interface InnerEnvoy {
  readonly admin: { readonly host: string; readonly port: number };
  readonly node?: object;
}

interface BesideEnvoys extends Ended {
  /** The state of each Envoy when ebb has ended: LIVE or DRAINING; undefined if it is gone. */
  readonly states: readonly (string | undefined)[];
}

/** Makes what is a pod's own: processes, mounts, host name. The network is shared. */
const podNamespaces = "unshare --pid --fork --kill-child --mount-proc --mount --uts";

/**
 * Runs ebb to its end in a pod, on a network with real Envoys, each in another pod, whose admin interfaces are open.
 * `hosts` is the network's owner according to ebb's /etc/hosts. Needs root. Rejects if Envoy is not installed.
 */
export async function ebbBesideEnvoys(
  envoys: readonly InnerEnvoy[],
  args: readonly string[],
  hosts: "own" | "node",
): Promise<BesideEnvoys> {
  const envoy = envoyPath();
  if (envoy === undefined) throw new Error(envoyMissing);
  using folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const starts = envoys.map((each, index) => {
    const { bootstrap } = configurationOf({ ...each, upstreamPort: 1 });
    writeFileSync(at(`${index}.json`), JSON.stringify(bootstrap));
    const flags = `--disable-hot-restart --concurrency 1 --log-level off --config-path ${at(`${index}.json`)}`;
    return `${podNamespaces} ${envoy} ${flags} --admin-address-path ${at(`${index}.admin`)} &`;
  });
  const waits = envoys.map(
    (_, index) => `until [ -s ${at(`${index}.admin`)} ]; do read -r -t 0.02 _ <> ${at("pause")}; done`,
  );
  const asks = envoys.map(({ admin: { host, port } }, index) => {
    const ask = `exec 3<>/dev/tcp/${host}/${port} && printf 'GET /ready HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' >&3 && grep -aoE "^(LIVE|DRAINING)" <&3`;
    return `echo "envoy ${index} $( { ${ask}; } 2>/dev/null)" >&2`;
  });
  const inPod = `${podNamespaces} /bin/sh -c 'hostname pod-a; mount --bind ${writeHosts(folder.path, hosts)} /etc/hosts; exec "$0" "$@"'`;
  const lines = [`mkfifo ${at("pause")}`, ...starts, ...waits, `${inPod} "$0" "$@"; code=$?`, ...asks, "exit $code"];
  const ended = await ebb(args, {
    through: [...namespaces, childPath(), "loopback", "/bin/bash", "-c", lines.join("\n")],
  });
  const states = envoys.map((_, index) => new RegExp(`^envoy ${index} (\\w+)`, "m").exec(ended.stderr)?.[1]);
  return { ...ended, states };
}
