import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { issueAuthority, issueServing } from "../../../../src/cluster/certificates/issue.ts";
import type { WebhookLimits } from "../../../../src/cluster/webhook/core/webhook-limits.ts";
import { logOf, type Started, type StartOptions, startEbb, temporaryFolder, until } from "../../../harness/ebb.ts";
import { limitedTo } from "../limited.ts";

/** A folder with a certificate, as the kubelet mounts a Secret. The certificate is of a CA of its own. */
export interface Mounted extends Disposable {
  readonly path: string;
  /** The CA's certificate (PEM), for clients. */
  readonly ca: string;
  /** Replaces the certificate by another one of the same CA. */
  renew(): void;
  /** Replaces the certificate by the first half of one. */
  spoil(): void;
}

const HOUR_MS = 3_600_000;

/** Creates such a folder, empty if `isThere` is false. Certificates begin an hour ago and end `lifeMs` from now. */
export function mountCertificate(isThere = true, lifeMs = HOUR_MS): Mounted {
  const folder = temporaryFolder();
  const life = { fromMs: Date.now() - HOUR_MS, untilMs: Date.now() + lifeMs };
  const authority = issueAuthority(life);
  let count = 0;
  const put = (cert: string, key: string): void => {
    count += 1;
    const contents = join(folder.path, `..${count}`);
    mkdirSync(contents);
    writeFileSync(join(contents, "tls.crt"), cert);
    writeFileSync(join(contents, "tls.key"), key);
    // as the kubelet does, so that both files change at once
    symlinkSync(`..${count}`, join(folder.path, "..new"));
    renameSync(join(folder.path, "..new"), join(folder.path, "..data"));
    if (count > 1) return;
    for (const file of ["tls.crt", "tls.key"]) symlinkSync(join("..data", file), join(folder.path, file));
  };
  const issue = () => issueServing(["localhost", "127.0.0.1"], life, authority);
  const renew = (): void => {
    const { cert, key } = issue();
    put(cert, key);
  };
  const spoil = (): void => {
    const { cert, key } = issue();
    put(cert.slice(0, cert.length / 2), key);
  };
  if (isThere) renew();
  return { path: folder.path, ca: authority.cert, renew, spoil, [Symbol.dispose]: folder[Symbol.dispose] };
}

export interface Webhook extends AsyncDisposable {
  readonly started: Started;
  readonly mounted: Mounted;
  readonly port: number;
  /** The URL of reviews: `https://localhost:PORT/mutate`. */
  readonly url: string;
  /** The address of probes and metrics: `http://127.0.0.1:PORT`. */
  readonly health: string;
  /** Sends a review, whose request has these changes, and resolves with the answer. */
  ask(changes?: object, init?: RequestInit): Promise<Response>;
  /** Opens a TLS connection, to do what no client does. */
  open(): Promise<Raw>;
}

export const webhookFlags = ["--image", "registry.example.com/ebb:1", "--listen", "127.0.0.1:0"];

/** Starts `ebb webhook` with that certificate. Resolves once it serves. */
export async function startWebhook(
  flags: readonly string[] = [],
  mounted = mountCertificate(),
  options: StartOptions = {},
): Promise<Webhook> {
  const started = startUnready(mounted, flags, options);
  const port = await portOf(started, "serving admission requests");
  const url = `https://localhost:${port}/mutate`;
  const { ca } = mounted;
  return {
    started,
    mounted,
    port,
    url,
    health: `http://127.0.0.1:${await portOf(started, "serving probes and metrics")}`,
    ask: (changes = {}, init = {}) =>
      fetch(url, { method: "POST", headers: json, body: JSON.stringify(reviewOf(changes)), tls: { ca }, ...init }),
    open: () => openRaw(port, ca),
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      mounted[Symbol.dispose]();
    },
  };
}

/** Starts it, from source, with limits that no flag changes. Resolves once it serves. */
export function startLimited(limits: Partial<WebhookLimits>, flags: readonly string[] = []): Promise<Webhook> {
  return startWebhook(flags, mountCertificate(), limitedTo(limits));
}

/** Starts `ebb webhook`, and does not wait for it. */
export function startUnready(mounted: Mounted, flags: readonly string[] = [], options: StartOptions = {}): Started {
  const places = ["--health-listen", "127.0.0.1:0", "--cert-dir", mounted.path];
  return startEbb(["webhook", ...webhookFlags, ...places, ...flags], options);
}

/** Resolves with the port that the log's line `ebb: MSG` names, once it is there. Rejects after 60 s. */
export async function portOf(started: Started, msg: string): Promise<number> {
  const [line] = await until(msg, () => nonEmpty(said({ started }, msg)), 60_000);
  return line?.port as number;
}

/** Returns the items, or undefined if there are none. */
export function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

export const json = { "content-type": "application/json" };

/** Removes the last line if it is not complete. */
function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** Returns the lines of the log so far whose message is `ebb: ` and `msg`. */
export function said({ started }: Pick<Webhook, "started">, msg: string) {
  return logOf(wholeLines(started.stderr())).filter((line) => line.msg === `ebb: ${msg}`);
}

export const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "web-", annotations: { "ebb.dev/inject": "true" } },
  spec: { containers: [{ name: "app", image: "app", command: ["/app"] }] },
};

/** Returns an AdmissionReview of a pod that asks for ebb; `changes` replace fields of its request. */
export function reviewOf(changes: object): object {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const request = { uid: "7d0c", kind, namespace: "shop", operation: "CREATE", object: pod, dryRun: false };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { ...request, ...changes } };
}

interface Raw extends Disposable {
  readonly socket: TLSSocket;
  send(text: string): void;
  /** Returns what has come so far. */
  text(): string;
  isClosed(): boolean;
}

/**
 * Opens a TLS connection to a port of 127.0.0.1; `more` are options of `tls.connect`. Rejects if the handshake fails.
 */
export async function openRaw(port: number, ca: string, more: object = {}): Promise<Raw> {
  const socket = connect({ host: "127.0.0.1", servername: "localhost", port, ca, ...more });
  let text = "";
  let isClosed = false;
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isClosed = true;
  });
  socket.on("end", () => {
    isClosed = true;
  });
  return {
    socket,
    send: (words) => void socket.write(words),
    text: () => text,
    isClosed: () => isClosed,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Returns a kubeconfig for an API server that asks nobody who they are. */
export function kubeconfigOf(server: string): string {
  return JSON.stringify({
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}
