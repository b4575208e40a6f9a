import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { until } from "../../harness/ebb.ts";
import { memoryOf } from "../../harness/processes.ts";
import type { Far } from "../../stand-in/api-server/api-server.ts";
import { type Cluster, end, startCluster, startReaper, stuckPod } from "./reaper.ts";

// A thousand streams, however they end: what they took is given back.

const LONG_MS = 200_000;
const WAVE = 100;
const WAVES = 10;

/** By the pod's number: how a stream ends that ends a sidecar. */
const ends: readonly ((far: Far) => void)[] = [
  (far) => {
    far.send(success);
    far.close();
  },
  (far) => far.send(success), // it is for ebb to close it
  (far) => far.cut(),
  (far) => {
    far.send(Buffer.alloc(60_000, "\u0001output that nobody reads"));
    far.close();
  },
];

const success = Buffer.from('\u0003{"metadata":{},"status":"Success"}');
const failure = Buffer.from('\u0003{"metadata":{},"status":"Failure","message":"no such command"}');

/** Of each pod an exec; where its number divides by five that fails, and a port-forward ends it. */
function answerStreams(cluster: Cluster, told: string[]): void {
  const nameOf = ({ pathname }: URL) => pathname.split("/").at(-2) as string;
  const numberOf = (url: URL) => Number(nameOf(url).slice("pod-".length));
  const tell = (url: URL): void => {
    told.push(nameOf(url));
    end(cluster, nameOf(url));
  };
  cluster.api.exec = {
    open(far, url) {
      if (numberOf(url) % 5 === 0) return far.send(failure);
      tell(url);
      ends[numberOf(url) % ends.length]?.(far);
    },
  };
  cluster.api.portforward = {
    open(far) {
      for (const channel of [0, 1]) far.send(Buffer.of(channel, 0x10, 0x27));
    },
    message(far, _, url) {
      tell(url);
      far.send(Buffer.from("\u0000HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"));
    },
  };
}

interface Usage {
  readonly descriptors: number;
  readonly rssMb: number;
}

function usageOf(pid: number): Usage {
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, rssMb: memoryOf(pid, "VmRSS") / 1024 ** 2 };
}

test(
  "1,000 pods, by exec and port-forward: each once, and neither memory nor sockets are kept",
  async () => {
    await using cluster = startCluster();
    const told: string[] = [];
    answerStreams(cluster, told);
    const annotations = {
      "ebb.dev/reap": "true",
      "ebb.dev/reap-exec.envoy": '["/stop"]',
      "ebb.dev/reap-quit.envoy": "POST http://localhost:10000/quit",
    };
    const flags = ["--methods", "exec,port-forward", "--allow-reap-exec", "--qps", "5000"];
    await using reaper = await startReaper({ ...cluster, flags: cluster.flags.slice(0, 2) }, ...flags);
    const outcomes = async (): Promise<number> => {
      const text = await (await fetch(`${reaper.health}/metrics`)).text();
      return Number(/^ebb_reaper_attempts_total\{outcome="ended"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const used: Usage[] = [];
    for (let wave = 0; wave < WAVES; wave++) {
      const names = Array.from({ length: WAVE }, (_, at) => `pod-${wave * WAVE + at}`);
      for (const name of names) cluster.put(stuckPod(name, { annotations }));
      await until("their end", async () => (await outcomes()) === (wave + 1) * WAVE || undefined, LONG_MS);
      for (const name of names) cluster.api.remove(`/api/v1/namespaces/shop/pods/${name}`);
      for (const path of [...cluster.api.objects.keys()])
        if (path.includes("/events/")) cluster.api.objects.delete(path);
      used.push(usageOf(reaper.started.pid));
    }
    await until("no stream is open", () => cluster.api.opened === cluster.api.closed || undefined, 60_000);
    expect(told).toHaveLength(WAVE * WAVES);
    expect(new Set(told).size).toBe(WAVE * WAVES);
    const [first, last] = [used[0], used.at(-1)] as [Usage, Usage]; // after one tenth of them, and after all
    expect(last.descriptors).toBeLessThan(first.descriptors + 40);
    expect(last.rssMb).toBeLessThan(first.rssMb + 60);
  },
  LONG_MS + 100_000,
);
