import { z } from "zod/mini";
import { outputOf, withoutOwnVariables } from "../api/plugin-output.ts";
import { startingEnvironment } from "../api/starting-environment.ts";
import type { RegistryAuth } from "./core/auths.ts";
import { DOCKER_HUB } from "./core/reference.ts";

const LIMIT_MS = 30_000;

/** Asks the program `docker-credential-NAME` for a registry. Resolves with undefined if it knows nothing of that. */
export type Helpers = (name: string, host: string) => Promise<RegistryAuth | undefined>;

/** Creates a function that asks programs for credentials, each once for each registry: some take a second. */
export function createHelpers(): Helpers {
  const answers = new Map<string, ReturnType<Helpers>>();
  return (name, host) => {
    const key = `${name} ${host}`;
    const answer = answers.get(key) ?? runHelper(name, host);
    answers.set(key, answer);
    return answer;
  };
}

const answer = z.looseObject({ Username: z.string(), Secret: z.string() });

/** Runs a program as Docker does (github.com/docker/docker-credential-helpers). Rejects if it fails. */
async function runHelper(name: string, host: string): Promise<RegistryAuth | undefined> {
  if (!/^[\w.-]+$/.test(name)) throw new Error(`expected the name of a credential helper, got ${JSON.stringify(name)}`);
  const program = `docker-credential-${name}`;
  const env = withoutOwnVariables(startingEnvironment());
  // Docker keeps those of Docker Hub under this name (docker/cli, cli/registry)
  const server = host === DOCKER_HUB ? "https://index.docker.io/v1/" : host;
  if (Bun.which(program, { PATH: env.PATH ?? "" }) === null)
    throw new Error(`${program}, which this file names, is not in PATH: install it, or take it out of the file`);
  const child = Bun.spawn([program, "get"], { env, stdin: new Blob([server]), stderr: "ignore", detached: true });
  const [output, code] = await outputOf(child, LIMIT_MS, true);
  if (code !== 0 && /not found/i.test(output)) return undefined;
  if (code !== 0) throw new Error(`${program} failed with exit code ${code}`);
  const { Username: username, Secret: secret } = parsed(program, output);
  if (secret === "") return undefined;
  // the name by which a helper says that the secret is a refresh token
  return username === "<token>"
    ? { username: "", password: "", identityToken: secret }
    : { username, password: secret, identityToken: undefined };
}

function parsed(program: string, output: string): z.infer<typeof answer> {
  try {
    return z.parse(answer, JSON.parse(output));
  } catch {
    throw new Error(`${program} printed no credentials`); // the parser's own message may repeat them
  }
}
