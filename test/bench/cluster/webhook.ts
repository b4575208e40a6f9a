import { openRaw, pod, startWebhook, type Webhook } from "../../binary/cluster/webhook/webhook.ts";
import { sumOf } from "../../harness/metrics.ts";
import { memoryOf } from "../../harness/processes.ts";
import type { Figure } from "../figure.ts";
import { quantile } from "../statistics.ts";
import { number, type Table } from "../table.ts";
import { measureAttacks } from "./webhook-attacks.ts";
import { measureImages } from "./webhook-images.ts";

const AT_ONCE = [1, 8, 32];
const LIMIT_MB = 100;

/** Measures how long the API server waits for the webhook, what memory that takes, and what attackers cost. */
export const webhook: Figure = {
  name: "webhook",
  async run({ isQuick }) {
    const times = isQuick ? 2000 : 10_000;
    await using running = await startWebhook();
    const rows = [await measure(running, "the first request", 1, 1)];
    for (const atOnce of AT_ONCE) rows.push(await measure(running, `${atOnce} at a time`, atOnce, times));
    rows.push(await measureHostile(running, times));
    rows.push(await measure(running, "8 at a time, after that", 8, times));
    const images = await measureImages(isQuick ? 2 : 20);
    return [table(rows, times), ...(images === undefined ? [] : [images]), await measureAttacks(isQuick ? 10 : 1)];
  },
};

function table(rows: Table["rows"], times: number): Table {
  return {
    title: "webhook: a pod of two containers and a mesh's sidecar, until its patch is here",
    shows: [
      `${times} requests each over TLS connections that are kept; client and webhook on the same processors`,
      `memory from /proc/PID/status, MB of 10^6 bytes; it may be at most ${LIMIT_MB} in the end`,
    ],
    columns: ["", "requests/s", "p50 ms", "p99 ms", "most ms", "cpu ms each", "RSS MB", "RssAnon MB", "in bounds"],
    rows,
  };
}

const container = {
  image: "registry.example.com/shop:1.2.3",
  resources: { requests: { cpu: "100m", memory: "64Mi" } },
};
const env = Array.from({ length: 20 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `value ${at}` }));
const object = {
  ...pod,
  spec: {
    containers: [
      { ...container, name: "shop", command: ["/shop", "--port", "8080"], env },
      { ...container, name: "exporter", command: ["/exporter"], env },
      { ...container, name: "istio-proxy", args: ["proxy", "sidecar"], env },
    ],
    volumes: Array.from({ length: 6 }, (_, at) => ({ name: `volume-${at}`, emptyDir: {} })),
  },
};

async function measure(running: Webhook, name: string, atOnce: number, times: number): Promise<string[]> {
  const ms: number[] = [];
  let left = times;
  const ask = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      const answer = await running.ask({ object });
      const text = await answer.text();
      if (!text.includes('"patch":')) throw new Error(`${answer.status}: ${text}`);
      ms.push(performance.now() - start);
    }
  };
  const cpuBefore = await cpuOf(running);
  const start = performance.now();
  await Promise.all(Array.from({ length: atOnce }, ask));
  const seconds = (performance.now() - start) / 1000;
  const latencies = [quantile(ms, 0.5), quantile(ms, 0.99), Math.max(...ms)].map(number);
  const cpuMs = (1000 * ((await cpuOf(running)) - cpuBefore)) / times;
  return [name, (times / seconds).toFixed(0), ...latencies, number(cpuMs), ...memoryCells(running)];
}

/**
 * Sends bodies of some megabytes that are no reviews, requests that break off, and opens connections that say nothing.
 */
async function measureHostile(running: Webhook, times: number): Promise<string[]> {
  const count = times / 10;
  for (let done = 0; done < count; done += 1) {
    const body = done % 20 === 0 ? `{"a":"${"x".repeat(3_000_000)}"}` : `[${"[".repeat(done)}`;
    await running.ask({}, { body });
    const raw = await openRaw(running.port, running.mounted.ca);
    if (done % 2 === 0)
      raw.send("POST /mutate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{");
    raw[Symbol.dispose]();
  }
  return [`${2 * count} hostile requests`, "", "", "", "", "", ...memoryCells(running)];
}

/** Reads the seconds of processor time of the webhook, which other programs affect less than latencies. */
async function cpuOf({ health }: Webhook): Promise<number> {
  const text = await (await fetch(`${health}/metrics`)).text();
  return sumOf(text, "process_cpu_seconds_total");
}

function memoryCells({ started }: Webhook): string[] {
  const rss = memoryOf(started.pid, "VmRSS") / 1e6;
  return [number(rss), number(memoryOf(started.pid, "RssAnon") / 1e6), rss <= LIMIT_MB ? "yes" : "NO"];
}
