import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInPath } from "../../build/setup/packages.mjs";
import { issueAuthority, issueServing } from "../../src/cluster/certificates/issue.ts";
import { collect, temporaryFolder, until } from "../harness/ebb.ts";
import { startTokenServer, user } from "./token-server.ts";

interface RegistryOptions {
  /** Whether and how it asks its clients who they are. */
  readonly auth: "none" | "basic" | "token";
  /** The address at which it listens, and its tokens' server does; by default 127.0.0.1. */
  readonly address?: string;
  /** The port at which it listens; by default a free one. */
  readonly port?: number;
  /** The host by which its clients call it; by default `localhost`. */
  readonly host?: string;
}

/** A real registry: Debian's docker-registry (github.com/distribution/distribution) with TLS. */
export interface Registry extends AsyncDisposable {
  /** `HOST:PORT`, as names of images have it. */
  readonly host: string;
  /** The file with its CA, alone in a folder, for --ca-file and buildah's --cert-dir. */
  readonly ca: string;
  /** Returns its log so far: each request with its status. */
  log(): string;
}

/** Says what this machine lacks to start a registry; undefined if it can. */
export function registryMissing(): string | undefined {
  return isInPath("docker-registry") ? undefined : "docker-registry";
}

/** Starts a registry, whose data is in a folder of its own. `await using` it. Resolves once it listens. */
export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const { auth, address = "127.0.0.1", port = 0, host = "localhost" } = options;
  const folder = temporaryFolder();
  const write = (name: string, text: string): string => {
    const path = join(folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const life = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 86_400_000 };
  const authority = issueAuthority(life);
  const serving = issueServing([host], life, authority);
  const tls = { certificate: write("serving.pem", serving.cert), key: write("serving.key", serving.key) };
  const tokens = auth === "token" ? startTokenServer({ address, host, serving }) : undefined;
  const ca = write("ca/ca.crt", authority.cert);
  const authorization = {
    none: {},
    basic: { auth: { htpasswd: { realm: "test", path: write("htpasswd", await htpasswd()) } } },
    token: {
      auth: { token: { realm: tokens?.realm, service: "test", issuer: "test", rootcertbundle: ca } },
    },
  };
  const config = {
    version: 0.1,
    log: { accesslog: { disabled: false }, level: "info" },
    storage: { filesystem: { rootdirectory: join(folder.path, "data") } },
    http: { addr: `${address}:${port}`, tls, secret: "test" },
    ...authorization[auth],
  };
  const child = Bun.spawn(
    // it also ends with this process
    ["setpriv", "--pdeathsig", "KILL", "docker-registry", "serve", write("config.yml", JSON.stringify(config))],
    { env: {}, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  );
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const listening = await until("the registry listens", () => {
    if (child.exitCode !== null) throw new Error(`docker-registry ended: ${stderr.text()}`);
    return /listening on \S+:(\d+), tls/.exec(stderr.text());
  });
  return {
    host: `${host}:${listening[1]}`,
    ca,
    log: () => stdout.text() + stderr.text(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      await tokens?.[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function htpasswd(): Promise<string> {
  return `${user.name}:${await Bun.password.hash(user.password, { algorithm: "bcrypt", cost: 4 })}\n`;
}
