import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { type Hosts, namespaces, writeHosts } from "../binary/sidecars/own-network.ts";
import { childPath } from "../compiled.ts";
import { type Ended, ebb, ebbPath, temporaryFolder } from "../harness.ts";
import { configurationOf } from "./bootstrap.ts";

/** An Envoy in the network of `ebbBesideEnvoys`: its admin address, and its `node`. */
export interface InnerEnvoy {
  readonly admin: { readonly host: string; readonly port: number };
  readonly node?: object;
}

export interface BesideEnvoys extends Ended {
  /** For each Envoy, whether its admin interface is open when ebb has ended. */
  readonly run: readonly boolean[];
}

/**
 * Runs ebb to its end beside real Envoys, whose admin interfaces are open, in a network of their own. `hosts` says
 * whose it is according to /etc/hosts. Needs root. Rejects if Envoy is not installed.
 */
export async function ebbBesideEnvoys(
  envoys: readonly InnerEnvoy[],
  args: readonly string[],
  { hosts, env = {} }: { readonly hosts: Hosts; readonly env?: Readonly<Record<string, string>> },
): Promise<BesideEnvoys> {
  const envoy = envoyPath();
  if (envoy === undefined) throw new Error(envoyMissing);
  using folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const starts = envoys.map((each, index) => {
    const node = each.node === undefined ? {} : { node: each.node };
    writeFileSync(
      at(`${index}.json`),
      JSON.stringify(configurationOf({ ...each, ...node, listenerPort: 0, upstreamPort: 1 }).bootstrap),
    );
    const flags = `--disable-hot-restart --concurrency 1 --log-level off --config-path ${at(`${index}.json`)}`;
    return `${envoy} ${flags} --admin-address-path ${at(`${index}.admin`)} & until [ -s ${at(`${index}.admin`)} ]; do read -r -t 0.02 _ <> ${at("pause")}; done`;
  });
  const mount = hosts === "machine" ? [] : [`mount --bind ${writeHosts(folder.path, hosts)} /etc/hosts`];
  const ends = envoys.map(({ admin }, index) => {
    const connects = `(exec 3<>/dev/tcp/${admin.host}/${admin.port}) 2>/dev/null`;
    return `${connects} && echo "envoy ${index} runs" >&2`;
  });
  const lines = [`mkfifo ${at("pause")}`, ...mount, ...starts, `"$0" "$@"; code=$?`, ...ends, "exit $code"];
  const through = [...namespaces, childPath(), "loopback", "/bin/bash", "-c", lines.join("\n")];
  const ended = await ebb(args, { through, env, program: ebbPath });
  return { ...ended, run: envoys.map((_, index) => ended.stderr.includes(`envoy ${index} runs`)) };
}
