import { z } from "zod/mini";
import type { Environment } from "../../shared/core/environment.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import type { Identity } from "./identity.ts";
import { outputOf, withoutOwnVariables } from "./plugin-output.ts";
import { startingEnvironment } from "./starting-environment.ts";

// client.authentication.k8s.io: a program that prints credentials (aws eks get-token, kubelogin,
// gke-gcloud-auth-plugin, ...).

/** The `exec` section of a user in a kubeconfig. */
export const execSchema = z.looseObject({
  apiVersion: z.optional(z.nullable(z.string())),
  command: z.string(),
  args: z.optional(z.nullable(z.array(z.string()))),
  env: z.optional(z.nullable(z.array(z.looseObject({ name: z.string(), value: z.string() })))),
  installHint: z.optional(z.nullable(z.string())),
  provideClusterInfo: z.optional(z.boolean()),
  interactiveMode: z.optional(z.nullable(z.enum(["Never", "IfAvailable", "Always"]))),
});

/** A parsed `exec` section. */
export type Exec = z.infer<typeof execSchema>;
/** Returns the credentials to use now. `isRefused`: the last were answered by 401, so the plugin is run again. */
export type ExecPlugin = (isRefused?: boolean) => Promise<Identity>;

const credentialSchema = z.looseObject({
  status: z.looseObject({
    token: z.optional(z.string()),
    clientCertificateData: z.optional(z.string()),
    clientKeyData: z.optional(z.string()),
    expirationTimestamp: z.optional(z.string()),
  }),
});

/** How long a plugin may run, if it may ask a person at the terminal and if it may not. */
const LONGEST_MS = { asks: 300_000, asksNobody: 60_000 };
/** Credentials are renewed this long before they expire, so that none expires on the way. */
const EARLY_MS = 5000;

interface CachedCredential {
  readonly identity: Identity;
  readonly untilMs: number;
}

/**
 * Creates a function that returns the credentials of a kubeconfig's exec plugin. The plugin runs at the first call, and
 * again when its credentials expire or were refused; calls meanwhile wait for the same run. `cluster` is the
 * kubeconfig's entry. Rejects with Failure(69) if the plugin fails, or does not end within 1 min; 5 min if it may ask at
 * a terminal.
 */
export function identityByPlugin(exec: Exec, cluster: Readonly<Record<string, unknown>>): ExecPlugin {
  let cached: CachedCredential | undefined;
  let pending: Promise<CachedCredential> | undefined;
  return async (isRefused = false) => {
    if (pending === undefined) {
      if (cached !== undefined && !isRefused && Date.now() < cached.untilMs - EARLY_MS) return cached.identity;
      pending = requestCredential(exec, cluster).finally(() => {
        pending = undefined;
      });
    }
    cached = await pending;
    return cached.identity;
  };
}

async function requestCredential(exec: Exec, cluster: Readonly<Record<string, unknown>>): Promise<CachedCredential> {
  const output = await runPlugin(exec, cluster);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = statusIn(exec, output);
  const hasCertificate = Boolean(cert);
  if (hasCertificate !== Boolean(key)) throw failure(exec, "expected a certificate and its key, got one of them");
  if (!token && !hasCertificate) throw failure(exec, "expected a token or a certificate, got neither");
  const identity: Identity = { cert, key, headers: token ? { authorization: `Bearer ${token}` } : {} };
  return { identity, untilMs: Date.parse(expirationTimestamp ?? "") || Number.POSITIVE_INFINITY };
}

function statusIn(exec: Exec, output: string): z.infer<typeof credentialSchema>["status"] {
  try {
    return z.parse(credentialSchema, JSON.parse(output)).status;
  } catch (error) {
    throw failure(exec, "expected an ExecCredential as JSON", error);
  }
}

/** Runs the plugin and returns its stdout. Its stderr is ebb's, so that it can ask a person for what it needs. */
async function runPlugin(exec: Exec, cluster: Readonly<Record<string, unknown>>): Promise<string> {
  const { command, args, env, installHint, interactiveMode } = exec;
  const isAtTerminal = process.stdin.isTTY === true;
  const canAsk = interactiveMode !== "Never" && isAtTerminal;
  try {
    const child = Bun.spawn([command, ...(args ?? [])], {
      env: pluginEnvironment(startingEnvironment(), env, describe(exec, cluster, canAsk)),
      stdin: canAsk ? "inherit" : "ignore",
      stderr: "inherit",
      detached: !isAtTerminal,
    });
    const limitMs = canAsk ? LONGEST_MS.asks : LONGEST_MS.asksNobody;
    const [output, code] = await outputOf(child, limitMs, !isAtTerminal);
    if (code === 0) return output;
    throw new Error(child.signalCode === null ? `exit code ${code}` : `ended by ${child.signalCode}`);
  } catch (error) {
    throw failure(exec, `${(error as Error).message}${installHint ? `; ${installHint.trim()}` : ""}`, error);
  }
}

/**
 * Returns the environment of an exec plugin, as client-go does (plugin/pkg/client/auth/exec/exec.go): `starting`, the
 * variables `named` by the kubeconfig, and `info` as KUBERNETES_EXEC_INFO. EBB_ variables of `starting` are left out.
 * `starting` must be `startingEnvironment()`, without what ebb sets for Bun.
 */
export function pluginEnvironment(starting: Environment, named: Exec["env"], info: string): Environment {
  return { ...withoutOwnVariables(starting), ...variablesOf(named), KUBERNETES_EXEC_INFO: info };
}

function variablesOf(env: Exec["env"]): Readonly<Record<string, string>> {
  return Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
}

function describe({ apiVersion, provideClusterInfo }: Exec, cluster: object, interactive: boolean): string {
  const spec = { interactive, ...(provideClusterInfo && { cluster: clusterInfo(cluster) }) };
  return JSON.stringify({ kind: "ExecCredential", apiVersion: apiVersion ?? "client.authentication.k8s.io/v1", spec });
}

function clusterInfo(cluster: object): object {
  const fields = ["server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url"];
  return Object.fromEntries(Object.entries(cluster).filter(([name]) => fields.includes(name)));
}

function failure({ command }: Exec, message: string, cause?: unknown): Failure {
  return new Failure(EXIT.unavailable, `kubeconfig: exec plugin ${command} failed: ${message}`, { cause });
}
