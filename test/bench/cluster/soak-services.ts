import { closeSync, openSync, readFileSync } from "node:fs";
import { usageOf } from "../../faults/usage.ts";
import { ebbPath, type LogLine, logOf, until } from "../../harness/ebb.ts";
import { freePort } from "../../harness/free-port.ts";
import { sumOf } from "../../harness/metrics.ts";
import { memoryOf } from "../../harness/processes.ts";
import type { Held } from "./soak-record.ts";
import { LONG_MS } from "./stand-in-kubelet.ts";

const LOOK_MS = 1000;

/** A webhook or reaper that works for hours. */
export interface Service {
  /** Resolves with what it has held since the last call, looking each second. */
  held(): Promise<Held>;
  /** Returns the lines of its log. */
  lines(): readonly LogLine[];
  /** Ends it by SIGTERM. Resolves with its exit code. */
  stop(): Promise<number>;
}

/** Starts `ebb NAME FLAGS`, which writes to the file `log`. Resolves when it is ready; `ended` is called if it ends. */
export async function startService(
  [name, ...flags]: readonly [string, ...string[]],
  log: string,
  ended: (code: number) => void,
): Promise<Service> {
  const health = `127.0.0.1:${await freePort()}`;
  const output = openSync(log, "w");
  const command = [ebbPath, name, "--image", "registry.example.com/ebb:1", "--health-listen", health, ...flags];
  const service = Bun.spawn(command, { env: {}, stdin: "ignore", stdout: output, stderr: output });
  closeSync(output);
  let isStopped = false;
  void service.exited.then((code) => isStopped || ended(code));
  const isReady = async (): Promise<boolean> => (await fetch(`http://${health}/readyz`)).ok;
  await until(`${name} is ready`, () => isReady().catch(() => false), LONG_MS, 100);
  let samples = [usageOf(service.pid)];
  const looking = setInterval(() => samples.push(usageOf(service.pid)), LOOK_MS);
  return {
    async held() {
      const text = await (await fetch(`http://${health}/metrics`)).text();
      const looked = samples;
      samples = [usageOf(service.pid)];
      return {
        rssAnon: Math.min(...looked.map(({ rssAnon }) => rssAnon)),
        descriptors: Math.min(...looked.map(({ descriptors }) => descriptors)),
        most: memoryOf(service.pid, "VmHWM"),
        cpuSeconds: sumOf(text, "process_cpu_seconds_total"),
      };
    },
    lines: () => logOf(readFileSync(log, "utf8")),
    async stop() {
      isStopped = true;
      clearInterval(looking);
      service.kill("SIGTERM");
      return await service.exited;
    },
  };
}
