import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../harness/ebb.ts";
import { endOf, startReady } from "./life.ts";
import { type Pod, signalEbb, startPod } from "./pod.ts";
import type { Subject } from "./subject.ts";

/** A sidecar through which an app calls others. */
interface Called {
  readonly subject: Subject;
  /** The same with a delay of its own before it ends at SIGTERM, of a minute or more. */
  readonly delayed: Subject;
  /** What the app calls through it: addresses of stopping.ts. */
  readonly addresses: readonly string[];
  /** Starts what it needs before it starts. */
  readonly prepare?: (pod: Pod) => Promise<void>;
}

/** How often the app calls each address after its SIGTERM. */
const COUNT = 30;

/** Declares the tests of an app that calls through a sidecar when it stops: an ordinary sidecar gets its SIGTERM, too. */
export function stopTests({ subject, delayed, addresses, prepare }: Called): void {
  const all = Object.fromEntries(addresses.map((address) => [address, COUNT]));

  describe(`${subject.title}: what its app calls when it stops`, () => {
    test.each<[string, Subject, Order]>([
      ["if ebb hold is its preStop hook", subject, "held"],
      ["within a delay of its own", delayed, "together"],
    ])("is answered to the end %s", async (_, one, order) => {
      expect(await stop(one, order)).toEqual(all);
    });

    test("is refused without either", async () => {
      const answered = await stop(subject, "together");
      for (const address of addresses) expect(answered[address]).toBeLessThan(COUNT);
    });
  });

  async function stop(one: Subject, order: Order): Promise<Answered> {
    await using pod = await startPod();
    await prepare?.(pod);
    return await stopPod(pod, one, { order, addresses });
  }
}

/** When an ordinary sidecar gets its SIGTERM: `together` with the app, or when its preStop hook has `held` it. */
type Order = "together" | "held";

/** How many calls after SIGTERM were answered, by address. */
type Answered = Readonly<Record<string, number>>;

interface Stop {
  readonly order: Order;
  readonly addresses: readonly string[];
}

/** Starts a sidecar and an app that calls through it, and stops both as the kubelet does. Resolves when the app has ended. */
async function stopPod(pod: Pod, subject: Subject, { order, addresses }: Stop): Promise<Answered> {
  const { container } = await startReady(subject, pod);
  const { sidecar, env } = subject;
  const app = [process.execPath, join(import.meta.dirname, "stopping.ts"), `${COUNT}`, ...addresses];
  const flags = ["--sidecar", sidecar, "--restart-policy", "Always"];
  await using started = pod.startEbb(["run", ...flags, "--", ...app], { env });
  const answers = (): boolean => addresses.every((address) => started.stdout().includes(`answered: ${address}\n`));
  await until("each address answers", answers);
  if (order === "held") {
    await using hold = container.startEbb(["hold", "--sidecar", sidecar]);
    await until("it holds", () => hold.stderr().includes("holding the proxy"));
    await signalEbb(started, "SIGTERM");
    await endOf(hold);
    container.kill("SIGTERM");
  } else {
    container.kill("SIGTERM");
    await signalEbb(started, "SIGTERM");
  }
  const { stdout } = await endOf(started);
  return JSON.parse(/^after SIGTERM (.*)$/m.exec(stdout)?.[1] ?? "{}");
}
