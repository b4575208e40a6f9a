import { join } from "node:path";
import { z } from "zod/mini";
import { describeSystemError } from "../../core/base/system-error.ts";
import { type DockerConfig, parseDockerConfig, type RegistryAuth, type RegistryAuths } from "../../core/image/auths.ts";
import { DOCKER_HUB } from "../../core/image/reference.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import { SIG } from "../../core/run/signal.ts";
import { isThere } from "../../system/file.ts";
import { MiB, readFileWithin, readStreamWithin } from "../../system/input.ts";
import type { Log } from "../../system/output/log.ts";
import { kill } from "../../system/process/child.ts";
import { deadline } from "../../system/timer.ts";
import { type Environment, startingEnvironment } from "../api/proxy.ts";

/** Returns the credentials of ebb's own user, or of the webhook, for a registry. Never rejects. */
export type OwnAuths = (host: string) => Promise<readonly RegistryAuths[]>;

/** How long a program for credentials may run. */
const HELPER_MS = 30_000;

/** Where credentials are looked for. */
export interface CredentialPlaces {
  /** --registry-config; undefined: the usual files, if `isAtDesk`. */
  readonly registryConfig: string | undefined;
  /** Whether a person's files are read, and programs run for credentials. */
  readonly isAtDesk: boolean;
  readonly env: Environment;
  readonly log: Log;
}

/**
 * Creates a function that reads the credentials for a registry anew at each call, because a mounted Secret is renewed.
 * @throws Failure(64) if the file of --registry-config cannot be read now
 */
export function ownAuths({ registryConfig, isAtDesk, env, log }: CredentialPlaces): OwnAuths {
  const paths = registryConfig !== undefined ? [registryConfig] : isAtDesk ? usualPaths(env).filter(isThere) : [];
  if (registryConfig !== undefined) {
    try {
      readConfig(registryConfig);
    } catch (error) {
      throw new Failure(EXIT.usage, `--registry-config: ${registryConfig}: ${describeSystemError(error)}`);
    }
  }
  return async (host) => {
    const found = await Promise.all(
      paths.map(async (path) => {
        try {
          const config = readConfig(path);
          return isAtDesk ? [...(await helperAuths(config, host)), config.auths] : [config.auths];
        } catch (error) {
          log.warn({ path, reason: (error as Error).message }, "cannot read credentials of registries");
          return [];
        }
      }),
    );
    return found.flat();
  };
}

function readConfig(path: string): DockerConfig {
  return parseDockerConfig(readFileWithin(path, MiB));
}

/** The files of Docker (docker/cli) and podman (containers-auth.json(5)), in the order of their use. */
function usualPaths({ DOCKER_CONFIG, HOME, REGISTRY_AUTH_FILE, XDG_RUNTIME_DIR, XDG_CONFIG_HOME }: Environment) {
  const home = HOME || "/";
  return [
    join(DOCKER_CONFIG || join(home, ".docker"), "config.json"),
    REGISTRY_AUTH_FILE || (XDG_RUNTIME_DIR ? join(XDG_RUNTIME_DIR, "containers/auth.json") : ""),
    join(XDG_CONFIG_HOME || join(home, ".config"), "containers/auth.json"),
  ].filter((path) => path !== "");
}

/** Asks the program that a config names for a registry. Rejects if it fails in another way than to know nothing. */
async function helperAuths({ credHelpers, credsStore }: DockerConfig, host: string): Promise<readonly RegistryAuths[]> {
  const name = credHelpers.get(host) ?? credsStore;
  if (name === undefined) return [];
  // Docker keeps those of Docker Hub under this name (docker/cli, cli/registry)
  const server = host === DOCKER_HUB ? "https://index.docker.io/v1/" : host;
  const auth = await runHelper(name, server);
  return auth === undefined ? [] : [new Map([[host, auth]])];
}

const answer = z.looseObject({ Username: z.string(), Secret: z.string() });

/** Runs `docker-credential-NAME get` (github.com/docker/docker-credential-helpers). */
async function runHelper(name: string, server: string): Promise<RegistryAuth | undefined> {
  if (!/^[\w.-]+$/.test(name)) throw new Error(`expected the name of a credential helper, got ${JSON.stringify(name)}`);
  const program = `docker-credential-${name}`;
  const env = Object.fromEntries(Object.entries(startingEnvironment()).filter(([each]) => !each.startsWith("EBB_")));
  const child = Bun.spawn([program, "get"], { env, stdin: new Blob([server]), stderr: "ignore", detached: true });
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = deadline(HELPER_MS, () => reject(new Error(`${program} did not end within ${HELPER_MS / 1000} s`)));
  try {
    const output = readStreamWithin("its output", child.stdout, MiB);
    const [text, code] = await Promise.race([Promise.all([output, child.exited]), late]);
    if (code !== 0) {
      if (/not found/i.test(text.toString())) return undefined;
      throw new Error(`${program} failed with ${code}`);
    }
    const { Username: username, Secret: secret } = z.parse(answer, JSON.parse(text.toString()));
    // the name by which a helper says that the secret is a refresh token
    return username === "<token>"
      ? { username: "", password: "", identityToken: secret }
      : { username, password: secret, identityToken: undefined };
  } catch (error) {
    kill(-child.pid, SIG.KILL);
    throw error;
  } finally {
    cancel();
  }
}
