import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse, YAMLError } from "yaml";
import { z } from "zod/mini";
import { withoutSlashes } from "../../shared/core/address.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import { redactUrl } from "../../shared/core/redact.ts";
import { describeSystemError } from "../../shared/core/system-error.ts";
import { MiB, readFileWithin, readPathWithin } from "../../shared/io/input.ts";
import type { Log } from "../../shared/output/log.ts";
import { type Exec, type ExecPlugin, execSchema, identityByPlugin } from "./exec-plugin.ts";
import { type Access, basicAuthorization, type Identity, type Surroundings } from "./identity.ts";
import { proxyFor } from "./proxy.ts";
import { startingEnvironment } from "./starting-environment.ts";

// A kubeconfig as client-go reads it (tools/clientcmd/api/v1/types.go): several files count as one, the first that
// names something wins, and paths are relative to their file. The legacy `auth-provider` is refused: client-go dropped
// its clouds in 1.26.

const text = z.optional(z.nullable(z.string()));
const clusterSchema = z.looseObject({
  server: z.string(),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.optional(z.boolean()),
  "tls-server-name": text,
  "proxy-url": text,
});
const userSchema = z.looseObject({
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  "as-uid": text,
  "as-groups": z.optional(z.nullable(z.array(z.string()))),
  exec: z.optional(z.nullable(execSchema)),
  "auth-provider": z.optional(z.unknown()),
});
const contextSchema = z.looseObject({ cluster: z.string(), user: text, namespace: text });
const named = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.optional(z.nullable(z.array(z.looseObject({ name: z.string(), ...shape }))));
const fileSchema = z.looseObject({
  "current-context": text,
  clusters: named({ cluster: clusterSchema }),
  users: named({ user: z.optional(z.nullable(userSchema)) }),
  contexts: named({ context: contextSchema }),
});

type Cluster = z.infer<typeof clusterSchema>;
type User = z.infer<typeof userSchema>;
type Section = "clusters" | "users" | "contexts";

interface File {
  readonly path: string;
  readonly content: z.infer<typeof fileSchema>;
}

/** The largest kubeconfig: a thousand clusters with their certificates. */
const MOST_BYTES = 16 * MiB;
/** How long a kubeconfig that is a pipe may take. */
const LIMIT_MS = 5000;

/**
 * Returns the paths of the kubeconfig files: --kubeconfig, else those in KUBECONFIG, else ~/.kube/config. A single path
 * in the flag or in KUBECONFIG is returned even if no file is there, any other only if there is one.
 */
export function findKubeconfig({ env, kubeconfig }: Surroundings): readonly string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const named = (env.KUBECONFIG ?? "").split(":").filter((path) => path !== "");
  if (named.length === 1) return named;
  const usual = env.HOME ? [join(env.HOME, ".kube", "config")] : [];
  return (named.length > 1 ? named : usual).filter((path) => existsSync(path));
}

/** Reads the names of the contexts in the kubeconfig files. Rejects as `readKubeconfig` does. */
export async function readContexts(given: Surroundings): Promise<readonly string[]> {
  const files = await readAll(findKubeconfig(given));
  return entriesIn(files, "contexts").map(({ entry }) => entry.name);
}

async function readAll(paths: readonly string[]): Promise<readonly File[]> {
  return await Array.fromAsync(paths, async (path) => parseKubeconfig(path, await readFile(path)));
}

/**
 * Reads kubeconfig files and returns the access that they describe together, with a warning in the log if the server's
 * certificate is not verified. Rejects with Failure(64), which names the file and what is wrong, if one cannot be read
 * or parsed, has more than 16 MiB (MOST_BYTES), or does not end within 5 s (LIMIT_MS).
 */
export async function readKubeconfig(paths: readonly string[], given: Surroundings, log: Log): Promise<Access> {
  return accessFromKubeconfig(await readAll(paths), given, log);
}

/**
 * Returns the access that parsed kubeconfig files describe for `context`, or for the first current-context. Files that
 * they name are read later, at each request. Warns in the log if the server's certificate is not verified. @throws
 * Failure(64) that names the file and what is wrong in it
 */
export function accessFromKubeconfig(files: readonly File[], { context }: Surroundings, log: Log): Access {
  const wanted = context ?? files.map(({ content }) => content["current-context"]).find((name) => name);
  if (!wanted) throw wrong(files, "there is no current-context; name one with --context");
  const { context: chosen } = pick(files, "contexts", wanted).entry;
  const { entry, file } = pick(files, "clusters", chosen.cluster);
  const { cluster } = entry;
  const user = chosen.user ? pick(files, "users", chosen.user) : undefined;
  const isInsecure = cluster["insecure-skip-tls-verify"] === true;
  const server = serverOf(cluster, file);
  const shown = { kubeconfig: file.path, server: redactUrl(server) };
  if (isInsecure) log.warn(shown, "the API server's certificate is not verified: insecure-skip-tls-verify is set");
  return {
    server,
    isInsecure,
    serverName: cluster["tls-server-name"] ?? undefined,
    proxy: cluster["proxy-url"] || proxyFor(server, startingEnvironment()),
    namespace: chosen.namespace || "default",
    identity: identityOf({ cluster, file }, { user: user?.entry.user ?? {}, file: user?.file ?? file }),
  };
}

function serverOf({ server }: Cluster, file: File): string {
  if (/^https?:\/\/[^/]/.test(server) && URL.canParse(server)) return withoutSlashes(server);
  throw wrong([file], `server: expected a URL such as https://10.0.0.1:6443, got "${redactUrl(server)}"`);
}

async function readFile(path: string): Promise<string> {
  try {
    return (await readPathWithin(path, MOST_BYTES, LIMIT_MS)).toString();
  } catch (error) {
    throw unreadable(path, error as Error);
  }
}

/**
 * Parses a kubeconfig (YAML); `path` is for its errors. @throws Failure(64) if it is not YAML or not a kubeconfig. The
 * message quotes nothing of the text, in which tokens may stand
 */
export function parseKubeconfig(path: string, text: string): File {
  try {
    const read = fileSchema.safeParse(parse(text, { logLevel: "error", uniqueKeys: false, prettyErrors: false }) ?? {});
    if (read.success) return { path, content: read.data };
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join(".")}: ${issue?.message}`);
  } catch (error) {
    throw unreadable(path, error as Error, text);
  }
}

function unreadable(path: string, error: Error, text = ""): Failure {
  return new Failure(EXIT.usage, `kubeconfig ${path}: ${reasonOf(error, text)}`, { cause: error });
}

/** Says what is wrong, without the parser's quotation, in which a token may stand. */
function reasonOf(error: Error, text: string): string {
  if (error instanceof ReferenceError) return "not YAML: an alias without its anchor, or too many aliases";
  if (!(error instanceof YAMLError)) return describeSystemError(error);
  return `not YAML, line ${text.slice(0, error.pos[0]).split("\n").length} (${error.code})`;
}

type Entry<S extends Section> = InFile<"entry", NonNullable<File["content"][S]>[number]>;

function pick<S extends Section>(files: readonly File[], section: S, name: string): Entry<S> {
  const all = entriesIn(files, section);
  const found = all.find(({ entry }) => entry.name === name);
  if (found !== undefined) return found;
  const names = all.map(({ entry }) => entry.name).join(", ") || "none";
  throw wrong(files, `${section}: there is no "${name}"; there are: ${names}`);
}

function entriesIn<S extends Section>(files: readonly File[], section: S): readonly Entry<S>[] {
  return files.flatMap((file) => (file.content[section] ?? []).map((entry) => ({ entry, file })));
}

function wrong(files: readonly File[], message: string): Failure {
  return new Failure(EXIT.usage, `kubeconfig ${files.map(({ path }) => path).join(":")}: ${message}`);
}

type InFile<Key extends string, Value> = Readonly<Record<Key, Value>> & { readonly file: File };

function identityOf({ cluster, file }: InFile<"cluster", Cluster>, login: InFile<"user", User>): Access["identity"] {
  const { user, file: userFile } = login;
  if (user["auth-provider"])
    throw wrong([userFile], "auth-provider is not supported; use an exec plugin, as with kubectl");
  const plugin = user.exec ? createPlugin(user.exec, cluster, userFile) : undefined;
  const headers = impersonation(user);
  return async (isRefused) => {
    const ca = cluster["insecure-skip-tls-verify"] ? undefined : contents(cluster, "certificate-authority", file);
    const own = await (plugin?.(isRefused) ?? ownIdentity(user, userFile));
    return { ca, ...own, headers: { ...own.headers, ...headers } };
  };
}

function createPlugin(exec: Exec, cluster: Cluster, { path }: File): ExecPlugin {
  const command = /\//.test(exec.command) ? absolute(exec.command, path) : exec.command;
  return identityByPlugin({ ...exec, command }, cluster);
}

/** Reads the user's certificate and token. A token's file wins over an inline token (client-go, rest/transport.go). */
function ownIdentity(user: User, file: File): Identity {
  const token = user.tokenFile ? readPath(user.tokenFile, file.path).trim() : user.token;
  const basic = user.username ? basicAuthorization(user.username, user.password ?? "") : undefined;
  const authorization = token ? `Bearer ${token}` : basic;
  return {
    cert: contents(user, "client-certificate", file),
    key: contents(user, "client-key", file),
    headers: authorization ? { authorization } : {},
  };
}

function impersonation(user: User): Readonly<Record<string, string>> {
  const groups = user["as-groups"] ?? [];
  if (groups.length > 1)
    throw new Failure(EXIT.usage, `kubeconfig: as-groups: expected at most one group, got ${groups.length}`);
  return {
    ...(user.as && { "impersonate-user": user.as }),
    ...(user["as-uid"] && { "impersonate-uid": user["as-uid"] }),
    ...(groups[0] && { "impersonate-group": groups[0] }),
  };
}

/**
 * Reads a field that is given inline as base64 (`FIELD-data`), or as the name of a file. Returns undefined if it is not
 * given.
 */
function contents(entry: Cluster | User, field: string, { path }: File): string | undefined {
  const inline = entry[`${field}-data`];
  if (inline) return Buffer.from(String(inline), "base64").toString();
  const named = entry[field];
  return named ? readPath(String(named), path) : undefined;
}

function readPath(named: string, kubeconfig: string): string {
  const path = absolute(named, kubeconfig);
  try {
    return readFileWithin(path, MiB);
  } catch (error) {
    const reason = describeSystemError(error);
    throw new Failure(EXIT.unavailable, `kubeconfig ${kubeconfig}: ${path}: ${reason}`, { cause: error });
  }
}

function absolute(path: string, kubeconfig: string): string {
  return resolve(dirname(kubeconfig), path);
}
