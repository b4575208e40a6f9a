import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { debianNames } from "../../../build/setup/packages.mjs";
import { childPath } from "../../harness/compiled.ts";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
import { buildahMissing, createBuildah } from "../../image/buildah.ts";
import { registryMissing, startRegistry } from "../../image/registry.ts";
import { user } from "../../image/token-server.ts";
import { librariesOf } from "../libraries.ts";
import { configMapOf, type KubeObject } from "../objects.ts";
import { withImports } from "../programs.ts";
import { network, registriesVariable } from "../rig/place.ts";

const folder = process.env[registriesVariable];
const here = `linux/${debianNames[process.arch]}`;

/** Says why the tests of registries cannot run here; undefined if they can. */
export const obstacle: string | undefined =
  folder === undefined ? "the nodes of this cluster are not ours" : (registryMissing() ?? buildahMissing());

/** A registry that pods and the node reach; `public/...` is for all, anything else for `user`. */
export interface ClusterRegistry extends AsyncDisposable {
  readonly host: string;
  /** Builds an image by the end of a Dockerfile behind its COPY, for the platforms (`linux/amd64`), and pushes it. */
  push(name: string, ends: Readonly<Record<string, string>>): Promise<void>;
  /** Builds an image by a Dockerfile and the files of a folder, and pushes it. */
  build(name: string, dockerfile: string, folder?: string): Promise<void>;
  /** Asks `ebb image` for the digest of an image. */
  digestOf(name: string): Promise<string>;
  /** Returns the ConfigMap with its CA, and the chart's values for a webhook that may ask it. */
  readonly authority: KubeObject;
  readonly webhook: { readonly registries: readonly string[]; readonly registryCaConfigMap: string };
}

/** Starts a registry with tokens and a CA of its own, which the node knows. */
export async function startClusterRegistry(): Promise<ClusterRegistry> {
  const registry = await startRegistry({ auth: "token", address: network.node, host: network.node });
  const buildah = createBuildah();
  const context = contextOf();
  const { host, ca } = registry;
  const known = tellNode(host, ca);
  return {
    host,
    push: (name, ends) => {
      const platforms = Object.entries(ends).map(([platform, end]) => [platform, `FROM scratch\nCOPY . /\n${end}\n`]);
      return buildah.push(registry, name, { platforms: Object.fromEntries(platforms), context: context.path });
    },
    build: (name, dockerfile, folder = context.path) =>
      buildah.push(registry, name, { platforms: { [here]: dockerfile }, context: folder }),
    async digestOf(name) {
      const config = join(context.path, "config.json");
      writeFileSync(config, dockerConfigOf(host));
      const words = ["image", "--json", "--ca-file", ca, "--registry-config", config, `${host}/${name}`];
      const { code, stdout, stderr } = await ebb(words);
      if (code !== 0) throw new Error(`ebb image: exit code ${code}\n${stderr}`);
      return JSON.parse(stdout).digest;
    },
    authority: configMapOf("registry-ca", { "ca.crt": readFileSync(ca, "utf8") }),
    webhook: { registries: [host], registryCaConfigMap: "registry-ca" },
    async [Symbol.asyncDispose]() {
      rmSync(known, { recursive: true });
      context[Symbol.dispose]();
      buildah[Symbol.dispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}

/** Tells the node's containerd a registry's CA (docs/hosts.md). Returns the path of the folder that says it. */
function tellNode(host: string, ca: string): string {
  const path = join(folder as string, host);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "hosts.toml"), `[host."https://${host}"]\nca = "${ca}"\n`);
  return path;
}

/** Makes a folder with the files of all images: a shell, an app that writes what it is given, and one that serves. */
function contextOf() {
  const context = temporaryFolder();
  const files = {
    child: childPath(),
    "bin/sh": "/bin/sh",
    bun: process.execPath,
    ...librariesOf("/bin/sh"),
    ...librariesOf(process.execPath),
  };
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(join(context.path, dirname(name)), { recursive: true });
    copyFileSync(source, join(context.path, name));
  }
  for (const [name, text] of withImports(["server.ts"])) writeFileSync(join(context.path, name), text);
  return context;
}

/** Returns the Secret with the credentials of `user` for a registry. */
export function pullSecretOf(name: string, host: string): KubeObject {
  const type = "kubernetes.io/dockerconfigjson";
  const stringData = { ".dockerconfigjson": dockerConfigOf(host) };
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, type, stringData };
}

function dockerConfigOf(host: string): string {
  return JSON.stringify({ auths: { [host]: { username: user.name, password: user.password } } });
}
