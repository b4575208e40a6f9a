import { readFileSync } from "node:fs";
import { metrics } from "../../binary/cluster/webhook/hostile-clients.ts";
import { pod, startWebhook, type Webhook } from "../../binary/cluster/webhook/webhook.ts";
import { memoryOf } from "../../harness/processes.ts";
import { takes } from "../../harness/time.ts";
import { type Registry, registryMissing, startRegistry } from "../../image/registry.ts";
import { quantile } from "../statistics.ts";
import { number, type Table } from "../table.ts";

const IMAGES = 50;
const PER_SECOND = 100;
const COLD_RUNS = 5;

/**
 * Measures what it costs that pods have no command: 100 pods a second of 50 images, which a real registry has. Undefined
 * if there is none on this machine.
 */
export async function measureImages(seconds: number): Promise<Table | undefined> {
  const lacking = registryMissing();
  if (lacking !== undefined) return void console.log(`webhook: no figures of images: install ${lacking}`);
  await using registry = await startRegistry({ auth: "none" });
  const images = await Promise.all(Array.from({ length: IMAGES }, (_, at) => push(registry, at)));
  const flags = ["--registries", registry.host, "--ca-file", registry.ca];
  const said = (at: number) => ({ image: images[at % IMAGES], command: ["/app", "serve"] });
  const unsaid = (at: number) => ({ image: images[at % IMAGES] });
  const cold: Measured[] = [];
  for (let run = 0; run < COLD_RUNS; run += 1) {
    await using webhook = await startWebhook(flags);
    await (await webhook.ask()).text();
    cold.push(await measure(webhook, 1, unsaid));
  }
  await using webhook = await startWebhook(flags);
  await (await webhook.ask()).text();
  const command = await measure(webhook, seconds, said);
  await measure(webhook, 1, unsaid);
  const rows = [
    row("with a command", command, command),
    row("without, in the first second of the webhook", together(cold), command),
    row("without, later", await measure(webhook, seconds, unsaid), command),
  ];
  return {
    title: `webhook: ${PER_SECOND} pods a second of ${IMAGES} images, until the patch of each is here`,
    shows: [
      "each pod is sent at its time, however many others wait; client, webhook and registry on the same processors",
      "ratios are to pods with a command; memory from /proc/PID/status, MB of 10^6 bytes",
    ],
    columns: [
      "a pod",
      "pods",
      "p50 ms",
      "p99 ms",
      "most ms",
      "p50 ratio",
      "p99 ratio",
      "known",
      "RSS MB",
      "RssAnon MB",
    ],
    rows,
  };
}

interface Measured {
  readonly ms: readonly number[];
  /** How many images were remembered. */
  readonly known: number;
  /** For how many a registry was asked, or another pod's answer waited for. */
  readonly found: number;
  readonly memory: readonly string[];
}

function together(runs: readonly Measured[]): Measured {
  const sum = (of: (run: Measured) => number) => runs.reduce((total, run) => total + of(run), 0);
  const ms = runs.flatMap((run) => run.ms);
  return { ms, known: sum(({ known }) => known), found: sum(({ found }) => found), memory: runs.at(-1)?.memory ?? [] };
}

async function measure(webhook: Webhook, seconds: number, containerOf: (at: number) => object): Promise<Measured> {
  const before = await lookups(webhook);
  const start = performance.now();
  const send = async (_: unknown, at: number): Promise<number> => {
    const due = start + (at * 1000) / PER_SECOND;
    await takes(Math.max(0, due - performance.now()));
    const spec = { containers: [{ name: "app", ...containerOf(at) }] };
    const text = await (await webhook.ask({ object: { ...pod, spec } })).text();
    if (!text.includes('"patch":')) throw new Error(text);
    return performance.now() - due;
  };
  const ms = await Promise.all(Array.from({ length: Math.round(seconds * PER_SECOND) }, send));
  const after = await lookups(webhook);
  const [known, found] = [after.known - before.known, after.found - before.found];
  return { ms, known, found, memory: memoryCells(webhook) };
}

function row(name: string, { ms, known, found, memory }: Measured, base: Measured): string[] {
  const [p50, p99] = [quantile([...ms], 0.5), quantile([...ms], 0.99)];
  const ratios = [p50 / quantile([...base.ms], 0.5), p99 / quantile([...base.ms], 0.99)];
  const part = known + found === 0 ? "" : `${((100 * known) / (known + found)).toFixed(1)}%`;
  return [name, `${ms.length}`, ...[p50, p99, Math.max(...ms), ...ratios].map(number), part, ...memory];
}

async function lookups(webhook: Webhook): Promise<{ readonly known: number; readonly found: number }> {
  const text = await metrics(webhook);
  const count = (result: string) =>
    Number(new RegExp(`^ebb_webhook_image_lookups_total\\{result="${result}"\\} (\\d+)$`, "m").exec(text)?.[1]);
  return { known: count("known"), found: count("found") };
}

function memoryCells({ started }: Webhook): string[] {
  return [number(memoryOf(started.pid, "VmRSS") / 1e6), number(memoryOf(started.pid, "RssAnon") / 1e6)];
}

/** Pushes an image without layers (OCI distribution-spec 1.1, "Pushing a blob monolithically"). Returns its name. */
async function push({ host, ca }: Registry, at: number): Promise<string> {
  const [repository, tls] = [`team/app-${at}`, { ca: readFileSync(ca, "utf8") }];
  const ask = async (method: string, url: string, headers: Record<string, string> = {}, body = "") => {
    const answer = await fetch(new URL(url, `https://${host}`), { method, headers, body, tls });
    if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const config = JSON.stringify({
    os: "linux",
    architecture: "amd64",
    config: { Entrypoint: [`/app-${at}`], Cmd: ["serve"] },
    rootfs: { type: "layers", diff_ids: [] },
  });
  const digest = `sha256:${new Bun.CryptoHasher("sha256").update(config).digest("hex")}`;
  const upload = (await ask("POST", `/v2/${repository}/blobs/uploads/`)).headers.get("location") ?? "";
  const target = new URL(upload, `https://${host}`);
  target.searchParams.set("digest", digest);
  await ask("PUT", target.href, { "content-type": "application/octet-stream" }, config);
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const described = { mediaType: "application/vnd.oci.image.config.v1+json", digest, size: config.length };
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType, config: described, layers: [] });
  await ask("PUT", `/v2/${repository}/manifests/1`, { "content-type": mediaType }, manifest);
  return `${host}/${repository}:1`;
}
