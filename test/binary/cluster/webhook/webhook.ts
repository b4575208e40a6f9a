import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { issueAuthority, issueServing } from "../../../../src/kube/certificates/issue.ts";
import { logOf, type Started, type StartOptions, startEbb, temporaryFolder, until } from "../../../harness.ts";

/** A certificate of a CA of its own, in a folder as the kubelet mounts a Secret. */
export interface Mounted extends Disposable {
  readonly path: string;
  /** What clients trust. */
  readonly ca: string;
  /** Another certificate of the same CA. */
  renew(): void;
  /** Half of a certificate. */
  spoil(): void;
}

const HOUR_MS = 3_600_000;

/** @param isThere whether it has a certificate from the start */
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
    // what the kubelet does, so that both files change at once
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
  /** `https://localhost:PORT/mutate`. */
  readonly url: string;
  /** `http://127.0.0.1:PORT`. */
  readonly health: string;
  /** Sends a review, and expects an answer. */
  ask(changes?: object, init?: RequestInit): Promise<Response>;
  /** A connection of TLS, for what no client does. */
  open(): Promise<Raw>;
}

export const webhookFlags = ["--image", "registry.example.com/ebb:1", "--listen", "127.0.0.1:0"];

/** Starts `ebb webhook`, and waits until it serves. */
export async function startWebhook(
  flags: readonly string[] = [],
  mounted = mountCertificate(),
  options: StartOptions = {},
): Promise<Webhook> {
  const started = startUnready(mounted, flags, options);
  const port = await portOf(started, "serving");
  const url = `https://localhost:${port}/mutate`;
  const { ca } = mounted;
  return {
    started,
    mounted,
    port,
    url,
    health: `http://127.0.0.1:${await portOf(started, "answering probes")}`,
    ask: (changes = {}, init = {}) =>
      fetch(url, { method: "POST", headers: json, body: JSON.stringify(reviewOf(changes)), tls: { ca }, ...init }),
    open: () => openRaw(port, ca),
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      mounted[Symbol.dispose]();
    },
  };
}

export function startUnready(mounted: Mounted, flags: readonly string[] = [], options: StartOptions = {}): Started {
  const places = ["--health-listen", "127.0.0.1:0", "--cert-dir", mounted.path];
  return startEbb(["webhook", ...webhookFlags, ...places, ...flags], options);
}

/** The port that a line of the log names, once it is there. */
export async function portOf(started: Started, msg: string): Promise<number> {
  const [line] = await until(msg, () => nonEmpty(said({ started }, msg)), 60_000);
  return line?.port as number;
}

export function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

export const json = { "content-type": "application/json" };

/** The last line may be half there. */
function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** The lines of the log so far with this message. */
export function said({ started }: Pick<Webhook, "started">, msg: string) {
  return logOf(wholeLines(started.stderr())).filter((line) => line.msg === `ebb: ${msg}`);
}

export const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "web-", annotations: { "ebb.dev/inject": "true" } },
  spec: { containers: [{ name: "app", image: "app", command: ["/app"] }] },
};

export function reviewOf(changes: object): object {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const request = { uid: "7d0c", kind, namespace: "shop", operation: "CREATE", object: pod, dryRun: false };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { ...request, ...changes } };
}

export interface Raw extends Disposable {
  readonly socket: TLSSocket;
  send(text: string): void;
  /** What came so far. */
  text(): string;
  isClosed(): boolean;
}

/** @throws what the handshake failed with */
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
