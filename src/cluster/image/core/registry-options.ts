import { changed, list, option, optional, type Values } from "../../../shared/cli/core/option.ts";
import { optionsOf } from "../../../shared/cli/core/options.ts";
import { anyText, boolean, syntax } from "../../../shared/cli/core/syntax.ts";
import { splitBy } from "../../../shared/core/text.ts";
import { isRegistryHost, registryName } from "./reference.ts";
import { type Mirror, parseMirror } from "./sources.ts";

/** The registries that may be asked: all, or those of these names (`HOST[:PORT]`, none if empty). */
type Registries = "all" | readonly string[];

/** The options about registries, of the commands that a person starts: `ebb image` and `ebb inject`. */
export const registryOptions = {
  registries: option<Registries>({
    flag: "registries",
    group: "registries",
    value: "HOST[:PORT][,...]|all|none",
    initial: "all",
    syntax: syntax(parseRegistries, "all, none, or registries such as docker.io,registry.example.com:5000"),
    secret: false,
    help: "the registries that ebb may ask what an image starts",
    brief: "registries to ask",
  }),
  registryMirror: list<Mirror>({
    flag: "registry-mirror",
    group: "registries",
    value: "FROM=TO",
    syntax: syntax(parseMirror, "a registry and its mirror, such as docker.io=mirror.example.com/docker-hub"),
    secret: false,
    help: "ask the mirror TO (HOST[:PORT][/PATH]) before the registry FROM; http://HOST for a mirror without TLS",
  }),
  caFile: optional({
    flag: "ca-file",
    group: "registries",
    value: "FILE",
    syntax: anyText,
    secret: false,
    help: "CAs of registries (PEM) to trust, in addition to the public ones",
  }),
  registryConfig: optional({
    flag: "registry-config",
    group: "registries",
    value: "FILE",
    initially: "Docker's and podman's",
    syntax: anyText,
    secret: false,
    help: "credentials for registries: a Docker config.json, or a mounted .dockerconfigjson",
  }),
};

/** The options about registries of `ebb webhook`, which asks none unless it is told which. */
export const webhookRegistryOptions = {
  ...registryOptions,
  registries: option<readonly string[]>({
    flag: "registries",
    group: "registries",
    value: "HOST[:PORT][,...]|none",
    initial: [],
    initially: "none",
    syntax: syntax(
      parseListed,
      "none, or registries such as docker.io,registry.example.com:5000 (all would let every pod choose where the webhook connects to)",
    ),
    secret: false,
    help: "the registries that ebb may ask what an image starts",
    brief: "registries to ask",
  }),
  registryConfig: changed(registryOptions.registryConfig, { initially: "none" }),
  pullSecrets: option({
    flag: "pull-secrets",
    group: "registries",
    initial: false,
    syntax: boolean,
    help: "also use the Secrets that a pod names in imagePullSecrets; needs permission to read Secrets",
  }),
};

/** The options of `ebb image`. */
export const imageOptions = { ...registryOptions, ...optionsOf("image") };

export type RegistrySettings = Values<typeof registryOptions>;
export type ImageSettings = Values<typeof imageOptions>;

function parseRegistries(given: string): Registries | undefined {
  return given === "all" ? "all" : parseListed(given);
}

function parseListed(given: string): readonly string[] | undefined {
  if (given === "none") return [];
  const hosts = splitBy(given.toLowerCase(), ",");
  return hosts.length > 0 && hosts.every((host) => !["all", "none"].includes(host) && isRegistryHost(host))
    ? hosts.map(registryName)
    : undefined;
}
