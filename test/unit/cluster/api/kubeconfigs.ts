import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findAccess } from "../../../../src/cluster/api/access.ts";
import { createApiClient } from "../../../../src/cluster/api/client.ts";
import { issueAuthority } from "../../../../src/cluster/certificates/issue.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";
import { collectLog } from "../collect-log.ts";

// For tests against an API server whose certificate is of an unknown CA, and which answers with what it was told.

export const life = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };

export const authority = issueAuthority(life);

/**
 * Returns a kubeconfig with one cluster, one user and the context of both. `more` adds or replaces top-level fields.
 */
export function kubeconfig(cluster: object, user: object, more: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "n" } }],
    "current-context": "x",
    ...more,
  };
}

interface Asked {
  /** Contents by path in a temporary folder; `FOLDER` in them is that folder's path. */
  readonly files: Readonly<Record<string, object | string>>;
  /** The environment; `FOLDER` as in `files`. With KUBECONFIG or HOME, these name the kubeconfig. */
  readonly env?: Readonly<Record<string, string>>;
  /** The value of --context. */
  readonly context?: string;
}

/**
 * Sends a request with the access that these files give, and resolves with the metadata of the answer. Unless `env`
 * says otherwise, the kubeconfig is the file `config`.
 */
export async function ask({ files, env = {}, context }: Asked): Promise<unknown> {
  using folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder.path, name, ".."), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content); // JSON is YAML
    writeFileSync(join(folder.path, name), text.replaceAll("FOLDER", folder.path), { mode: 0o755 });
  }
  const named = Object.entries(env).map(([name, value]) => [name, value.replaceAll("FOLDER", folder.path)]);
  const surroundings = { env: Object.fromEntries(named), context };
  const access = await findAccess(
    "KUBECONFIG" in env || "HOME" in env ? surroundings : { ...surroundings, kubeconfig: join(folder.path, "config") },
    collectLog(),
  );
  return (await createApiClient(access).get("/x", { retries: 0 })).metadata;
}

/** The cluster's fields in a kubeconfig for trusting `authority`. */
export const ca = { "certificate-authority-data": Buffer.from(authority.cert).toString("base64") };

/**
 * Returns an exec plugin: its file, a shell script, and the user's `exec` that names it; `more` adds or replaces
 * fields.
 */
export const plugin = (script: string, more: object = {}) => ({
  files: { "bin/plugin": `#!/bin/sh\n${script}\n` },
  exec: { apiVersion: "client.authentication.k8s.io/v1", command: "./bin/plugin", interactiveMode: "Never", ...more },
});
