import { portOf } from "../../binary/cluster/webhook/webhook.ts";
import { startEbb, until } from "../../harness/ebb.ts";
import { sumOf } from "../../harness/metrics.ts";
import { memoryOf } from "../../harness/processes.ts";
import { kubeconfig, LONG_MS } from "./stand-in-kubelet.ts";

/** An `ebb reaper` whose costs are read from outside. */
export interface MeasuredReaper extends AsyncDisposable {
  /** Resolves with the sum of a metric (`sumOf`). */
  sum(metric: string): Promise<number>;
  /** Resolves when a metric is as `isWanted` says, looking every `everyMs`. Rejects if the reaper ends before. */
  reaches(metric: string, isWanted: (sum: number) => boolean, everyMs: number): Promise<void>;
  /** Returns its resident memory in MB of 10^6 bytes; `VmHWM`: the most until now. */
  memoryMb(field: "VmRSS" | "VmHWM"): number;
}

/** Starts `ebb reaper` with these flags. Resolves when it serves metrics. */
export async function startMeasured(flags: readonly string[]): Promise<MeasuredReaper> {
  const more = ["--image", "registry.example.com/ebb:1", "--health-listen", "127.0.0.1:0"];
  const reaper = startEbb(["reaper", "--kubeconfig", kubeconfig, ...more, ...flags]);
  const endedEarly = reaper.ended.then(({ code, stderr }): never => {
    throw new Error(`ebb reaper: exit code ${code}\n${stderr}`);
  });
  endedEarly.catch(() => undefined); // `reaches` reports it
  const port = await Promise.race([portOf(reaper, "serving probes and metrics"), endedEarly]);
  const sum = async (metric: string): Promise<number> =>
    sumOf(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), metric);
  return {
    sum,
    async reaches(metric, isWanted, everyMs) {
      const isThere = async (): Promise<boolean> => isWanted(await sum(metric));
      await Promise.race([until(metric, isThere, LONG_MS, everyMs), endedEarly]).catch((error: Error) => {
        throw new Error(`${error.message}\n${reaper.stderr().slice(-3000)}`);
      });
    },
    memoryMb(field) {
      return memoryOf(reaper.pid, field) / 1e6;
    },
    async [Symbol.asyncDispose]() {
      reaper.kill("SIGTERM");
      await reaper.ended;
    },
  };
}
