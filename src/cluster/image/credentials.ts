import { join } from "node:path";
import type { Environment } from "../../shared/core/environment.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import { describeSystemError } from "../../shared/core/system-error.ts";
import { isThere } from "../../shared/io/file.ts";
import { MiB, readFileWithin } from "../../shared/io/input.ts";
import type { Log } from "../../shared/output/log.ts";
import { type DockerConfig, helperFor, parseDockerConfig, type RegistryAuths } from "./core/auths.ts";
import { createHelpers, type Helpers } from "./helpers.ts";

/** Returns the credentials of ebb's own user, or of the webhook, for a registry. Never rejects. */
type OwnAuths = (host: string) => Promise<readonly RegistryAuths[]>;

/** Where credentials are looked for. */
interface CredentialPlaces {
  /** --registry-config; undefined: the usual files, if `isAtDesk`. */
  readonly registryConfig: string | undefined;
  /** Whether a person's files are read, and programs run for credentials. */
  readonly isAtDesk: boolean;
  readonly env: Environment;
  readonly log: Log;
}

/**
 * Creates a function that returns the credentials for a registry. It reads the files at each call: a mounted Secret changes.
 * @throws Failure(64) if the file of --registry-config cannot be read now
 */
export function ownAuths({ registryConfig, isAtDesk, env, log }: CredentialPlaces): OwnAuths {
  const usual = isAtDesk ? usualPaths(env).filter(isThere) : [];
  const paths = registryConfig === undefined ? usual : [registryConfig];
  if (registryConfig !== undefined) checkConfig(registryConfig);
  const helpers = isAtDesk ? createHelpers() : undefined;
  const logged = new Set<string>();
  const read = async (path: string, host: string): Promise<readonly RegistryAuths[]> => {
    try {
      return await authsIn(readConfig(path), host, helpers);
    } catch (error) {
      const reason = describeSystemError(error);
      if (!logged.has(path + reason)) log.warn({ path, reason }, "cannot read credentials of registries");
      logged.add(path + reason);
      return [];
    }
  };
  return async (host) => (await Promise.all(paths.map((path) => read(path, host)))).flat();
}

async function authsIn(config: DockerConfig, host: string, helpers?: Helpers): Promise<readonly RegistryAuths[]> {
  // an empty helper stands for the file itself (docker/cli 0b4503c, cli/config/configfile/file.go, GetCredentialsStore)
  const helper = helperFor(config, host);
  const auth = helper ? await helpers?.(helper, host) : undefined;
  return auth === undefined ? [config.auths] : [new Map([[host, auth]]), config.auths];
}

function readConfig(path: string): DockerConfig {
  return parseDockerConfig(readFileWithin(path, MiB));
}

function checkConfig(path: string): void {
  try {
    readConfig(path);
  } catch (error) {
    throw new Failure(EXIT.usage, `--registry-config: ${path}: ${describeSystemError(error)}`);
  }
}

/**
 * The files of Docker (docker/cli) and podman (containers-auth.json(5); without XDG_RUNTIME_DIR: containers/image,
 * pkg/docker/config/config.go, getPathToAuthWithOS), in the order of their use.
 */
export function usualPaths({ DOCKER_CONFIG, HOME, REGISTRY_AUTH_FILE, XDG_RUNTIME_DIR, XDG_CONFIG_HOME }: Environment) {
  const home = HOME || "/";
  const runtime = XDG_RUNTIME_DIR ? join(XDG_RUNTIME_DIR, "containers") : `/run/containers/${process.getuid?.()}`;
  return [
    join(DOCKER_CONFIG || join(home, ".docker"), "config.json"),
    REGISTRY_AUTH_FILE || join(runtime, "auth.json"),
    join(XDG_CONFIG_HOME || join(home, ".config"), "containers/auth.json"),
  ];
}
