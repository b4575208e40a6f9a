import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findAccess } from "../../../src/kube/api/access.ts";
import { createApiClient } from "../../../src/kube/api/client.ts";
import { issueAuthority } from "../../../src/kube/certificates/issue.ts";
import { temporaryFolder } from "../../harness.ts";
import { collectLog } from "../collect-log.ts";

// Against a server with a certificate of a CA that nobody knows, which says what it was told.

export const life = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };

export const authority = issueAuthority(life);

/** A kubeconfig of one cluster and one user. */
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

export interface Asked {
  readonly files: Readonly<Record<string, object | string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly context?: string;
}

/** What a request with these files says of itself; the kubeconfig is the file `config`. */
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

export const ca = { "certificate-authority-data": Buffer.from(authority.cert).toString("base64") };

export const plugin = (script: string, more: object = {}) => ({
  files: { "bin/plugin": `#!/bin/sh\n${script}\n` },
  exec: { apiVersion: "client.authentication.k8s.io/v1", command: "./bin/plugin", interactiveMode: "Never", ...more },
});
