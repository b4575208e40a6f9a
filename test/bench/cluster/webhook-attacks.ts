import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { openRaw, pod, reviewOf, startWebhook, type Webhook } from "../../binary/cluster/webhook/webhook.ts";
import { inParallel, temporaryFolder } from "../../harness/ebb.ts";
import { takes } from "../../harness/time.ts";
import {
  type Behaviour,
  Content,
  caPem,
  digestOf,
  type StandInRegistry,
  startStandIn,
} from "../../unit/cluster/image/stand-in-registry.ts";
import { quantile } from "../statistics.ts";
import { number, type Table } from "../table.ts";

/** The memory limit of its pod, in src/cluster/manifests/webhook.yaml. */
const LIMIT_MIB = 288;

/** Attacks the webhook that many times. Resolves with the clients that it leaves open, which are closed at the end. */
type Attack = (webhook: Webhook, times: number, registry: StandInRegistry) => Promise<readonly { destroy(): void }[]>;

const head = "POST /mutate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";

/** The registry is the only one that the webhook may ask; if none is given, it may ask none. */
const attacks: readonly (readonly [name: string, times: number, attack: Attack, registry?: Behaviour])[] = [
  ["pods of 2.7 MB of variables", 40, (webhook, times) => send(webhook, times, 8, variables(2.7))],
  ["pods of 7 MB of text, 20 at a time", 100, (webhook, times) => send(webhook, times, 20, variables(6.9))],
  ["pods of hooks and scripts", 100, (webhook, times) => send(webhook, times, 20, scripts())],
  ["pods of 7 MB, as dense as may be", 100, (webhook, times) => send(webhook, times, 20, dense(6.9))],
  ["connections without a handshake", 10_000, openSilent],
  ["connections that say nothing", 10_000, (webhook, times) => openTls(webhook, times, "")],
  ["requests that drip (slow-loris)", 10_000, (webhook, times) => openTls(webhook, times, head)],
  ["other certificates, 4 of 7 MB at a time", 100, renew],
  ["pods of 7 MB that wait for a slow registry", 100, (...all) => sendUnknown(...all, "x".repeat(6_900_000)), drip],
  ["pods of images of 1 MiB", 1000, (...all) => sendUnknown(...all), large],
  ["pods of 100 images each", 100, (...all) => sendUnknown(...all, "", 100), drip],
];

/**
 * Measures what clients that reach the port can do, and what it costs those that ask meanwhile. The number of times of
 * each attack is divided by `divisor`.
 */
export async function measureAttacks(divisor: number): Promise<Table> {
  const rows: string[][] = [];
  for (const [name, times, attack, registry] of attacks) {
    rows.push(await measure(name, times / divisor, { attack, registry }));
  }
  return {
    title: "webhook: what attackers cost, while a pod is asked about every 50 ms",
    shows: [
      "attacker, client and webhook on the same processors",
      `memory in MiB from /proc/PID/status, the most until then; limited in the pod to ${LIMIT_MIB}`,
    ],
    columns: ["", "seconds", "answered", "429", "failed", "p50 ms", "most ms", "before MiB", "most MiB", "in bounds"],
    rows,
  };
}

interface Attacked {
  readonly attack: Attack;
  readonly registry: Behaviour | undefined;
}

async function measure(name: string, times: number, { attack, registry: behave }: Attacked): Promise<string[]> {
  using folder = temporaryFolder();
  await using registry = startStandIn(new Content(), behave);
  const ca = join(folder.path, "ca.crt");
  await Bun.write(ca, caPem);
  const flags = behave === undefined ? [] : ["--registries", registry.host, "--ca-file", ca];
  await using webhook = await startWebhook(flags);
  await (await webhook.ask()).text();
  const before = peakMiB(webhook);
  const asking = ask(webhook);
  const start = performance.now();
  const clients = await attack(webhook, times, registry);
  const seconds = (performance.now() - start) / 1000;
  const { ms, busy, failed } = await asking.stop();
  for (const client of clients) client.destroy();
  const peak = peakMiB(webhook);
  const latencies = ms.length === 0 ? ["", ""] : [number(quantile(ms, 0.5)), number(Math.max(...ms))];
  const counts = [ms.length, busy, failed].map(String);
  const isBounded = peak <= LIMIT_MIB && failed === 0 ? "yes" : "NO";
  return [`${times} ${name}`, number(seconds), ...counts, ...latencies, number(before), number(peak), isBounded];
}

/** Starts to ask about pods, one after the other, on connections that are kept, as the API server does. */
function ask(webhook: Webhook) {
  const result = { ms: [] as number[], busy: 0, failed: 0 };
  let isOver = false;
  const once = async (): Promise<void> => {
    const start = performance.now();
    const answer = await webhook.ask();
    const text = await answer.text();
    if (answer.status === 429) result.busy += 1;
    else if (text.includes('"patch":')) result.ms.push(performance.now() - start);
    else result.failed += 1;
  };
  const all = async (): Promise<void> => {
    while (!isOver) {
      await once().catch(() => {
        result.failed += 1;
      });
      await takes(50);
    }
  };
  const done = all();
  const stop = async () => {
    isOver = true;
    await done;
    return result;
  };
  return { stop };
}

async function send(webhook: Webhook, times: number, width: number, object: object): Promise<[]> {
  const body = JSON.stringify(reviewOf({ object }));
  const one = async () => {
    const answer = await webhook.ask({}, { body }).catch(() => undefined); // what takes too long is cut
    await answer?.text().catch(() => "");
  };
  await inParallel(Array.from({ length: times }), one, width);
  return [];
}

const [app] = pod.spec.containers;

function variables(megabytes: number): object {
  const value = "x".repeat((megabytes * 1e6) / 900);
  const env = Array.from({ length: 900 }, (_, at) => ({ name: `E${at}`, value }));
  return { ...pod, spec: { containers: [{ ...app, env }] } };
}

/** Returns a pod with as many hooks and scripts as the webhook accepts, each as long as those that it looks into. */
function scripts(): object {
  const preStop = { exec: { command: ["sh", "-c", "curl -X POST ".repeat(310)] } };
  const own = { command: ["sh", "-c", ";a".repeat(2000)], lifecycle: { preStop } };
  return { ...pod, spec: { containers: Array.from({ length: 100 }, (_, at) => ({ ...app, name: `c${at}`, ...own })) } };
}

/** Returns a pod of that size with as many different fields as the webhook accepts, filled with text. */
function dense(megabytes: number): object {
  const own = (at: number) => Array.from({ length: 90 }, (_, one) => ({ [`${at}.${one}`]: {} }));
  const more = Array.from({ length: 540 }, (_, at) => own(at));
  return { ...pod, spec: { containers: [{ ...app, more, text: "x".repeat(megabytes * 1e6 - 850_000) }] } };
}

function openSilent({ port }: Webhook, times: number) {
  const open = () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    return new Promise<typeof socket>((resolve) =>
      socket.once("connect", () => resolve(socket)).once("close", resolve),
    );
  };
  return inParallel(Array.from({ length: times }), open, 32);
}

async function openTls({ port, mounted }: Webhook, times: number, text: string) {
  const open = async () => {
    const raw = await openRaw(port, mounted.ca).catch(() => undefined); // it was the oldest handshake
    raw?.send(text);
    return raw === undefined ? [] : [raw.socket];
  };
  return (await inParallel(Array.from({ length: times }), open, 32)).flat();
}

async function renew(webhook: Webhook, times: number): Promise<[]> {
  for (let done = 0; done < times; done += 4) {
    webhook.mounted.renew();
    await send(webhook, 4, 4, variables(6.9));
  }
  return [];
}

/** Answers with a body that begins, and of which a byte comes now and then, so that the registry is not silent. */
function drip(): Response {
  let timer: Timer;
  const pull = (controller: ReadableStreamDefaultController) => {
    timer = setInterval(() => controller.enqueue(Buffer.from(" ")), 100);
  };
  return new Response(new ReadableStream({ start: pull, cancel: () => clearInterval(timer) }));
}

const largeConfig = JSON.stringify({
  config: { Entrypoint: Array(5000).fill("ab"), Labels: { text: "x".repeat(990_000) } },
});

/** Answers with an image whose config has almost 1 MiB, a part of it words, whatever its name is. */
function large({ line }: { readonly line: string }): Response {
  if (line.includes("/blobs/")) return new Response(largeConfig);
  const config = { mediaType: "application/vnd.oci.image.config.v1+json", digest: digestOf(largeConfig) };
  return Response.json({ schemaVersion: 2, config, layers: [] });
}

/** Sends pods of images of which nobody has heard, 20 at a time, each with that many containers, and a text. */
async function sendUnknown(
  webhook: Webhook,
  times: number,
  { host }: StandInRegistry,
  text = "",
  containers = 1,
): Promise<[]> {
  const one = async (at: number) => {
    const images = Array.from({ length: containers }, (_, which) => `${host}/team/app-${at}-${which}:1`);
    const object = { ...pod, spec: { containers: images.map((image, which) => ({ name: `c${which}`, image, text })) } };
    const answer = await webhook.ask({ object }).catch(() => undefined);
    await answer?.text().catch(() => "");
  };
  await inParallel([...Array(times).keys()], one, 20);
  return [];
}

function peakMiB({ started }: Webhook): number {
  const status = readFileSync(`/proc/${started.pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
