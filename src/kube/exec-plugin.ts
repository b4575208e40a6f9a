import { z } from "zod/mini";
import { EXIT, Failure } from "../core/exit.ts";
import type { Identity } from "./access.ts";

// client.authentication.k8s.io: a program that says who one is (aws eks get-token, gke-gcloud-auth-plugin, kubelogin, ...).

export const execSchema = z.looseObject({
  apiVersion: z.optional(z.nullable(z.string())),
  command: z.string(),
  args: z.optional(z.nullable(z.array(z.string()))),
  env: z.optional(z.nullable(z.array(z.looseObject({ name: z.string(), value: z.string() })))),
  installHint: z.optional(z.nullable(z.string())),
  provideClusterInfo: z.optional(z.boolean()),
  interactiveMode: z.optional(z.nullable(z.enum(["Never", "IfAvailable", "Always"]))),
});

export type Exec = z.infer<typeof execSchema>;
export type Plugin = (isRefused?: boolean) => Promise<Identity>;

const credentialSchema = z.looseObject({
  status: z.looseObject({
    token: z.optional(z.string()),
    clientCertificateData: z.optional(z.string()),
    clientKeyData: z.optional(z.string()),
    expirationTimestamp: z.optional(z.string()),
  }),
});

const LONGEST_MS = 60_000;
/** Not one that expires on the way. */
const EARLY_MS = 5000;

/** Asks the plugin once, and again when what it said has expired or was refused. */
export function identityByPlugin(exec: Exec, cluster: Readonly<Record<string, unknown>>): Plugin {
  let asked: Promise<{ identity: Identity; untilMs: number }> | undefined;
  return async (isRefused = false) => {
    const known = isRefused ? undefined : await asked?.catch(() => undefined);
    if (known === undefined || Date.now() >= known.untilMs - EARLY_MS) asked = ask(exec, cluster);
    return (await (asked as NonNullable<typeof asked>)).identity;
  };
}

async function ask(exec: Exec, cluster: Readonly<Record<string, unknown>>) {
  const output = await runPlugin(exec, cluster);
  try {
    const { status } = z.parse(credentialSchema, JSON.parse(output));
    const identity: Identity = {
      cert: status.clientCertificateData,
      key: status.clientKeyData,
      headers: status.token === undefined ? {} : { authorization: `Bearer ${status.token}` },
    };
    return { identity, untilMs: Date.parse(status.expirationTimestamp ?? "") || Number.POSITIVE_INFINITY };
  } catch (error) {
    throw failure(exec, "expected an ExecCredential as JSON", error);
  }
}

/** Its stderr goes to ours: that is where it says what it needs of a person. */
async function runPlugin(exec: Exec, cluster: Readonly<Record<string, unknown>>): Promise<string> {
  const { command, args, env, installHint, interactiveMode } = exec;
  const canAsk = interactiveMode !== "Never" && process.stdin.isTTY === true;
  try {
    const child = Bun.spawn([command, ...(args ?? [])], {
      env: { ...process.env, ...variablesOf(env), KUBERNETES_EXEC_INFO: describe(exec, cluster, canAsk) },
      stdin: canAsk ? "inherit" : "ignore",
      stderr: "inherit",
      timeout: LONGEST_MS,
    });
    const output = await child.stdout.text();
    const code = await child.exited;
    if (code === 0) return output;
    throw new Error(child.signalCode === null ? `exit code ${code}` : `ended by ${child.signalCode}`);
  } catch (error) {
    throw failure(exec, `${(error as Error).message}${installHint ? `; ${installHint.trim()}` : ""}`, error);
  }
}

function variablesOf(env: Exec["env"]): Readonly<Record<string, string>> {
  return Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
}

function describe({ apiVersion, provideClusterInfo }: Exec, cluster: object, interactive: boolean): string {
  const spec = { interactive, ...(provideClusterInfo && { cluster: clusterInfo(cluster) }) };
  return JSON.stringify({ kind: "ExecCredential", apiVersion: apiVersion ?? "client.authentication.k8s.io/v1", spec });
}

function clusterInfo(cluster: object): object {
  const known = ["server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url"];
  return Object.fromEntries(Object.entries(cluster).filter(([name]) => known.includes(name)));
}

function failure({ command }: Exec, message: string, cause: unknown): Failure {
  return new Failure(EXIT.unavailable, `kubeconfig: exec plugin ${command}: ${message}`, { cause });
}
