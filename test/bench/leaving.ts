import { startEnvoy } from "../envoy/envoy.ts";
import { ebbPath } from "../harness.ts";
import type { Figure } from "./figure.ts";
import { type Request, startApp, startLoad } from "./leaving-load.ts";
import { number } from "./table.ts";

const CLIENTS = 16;
const SLOW = 4;
const WARM_UP_MS = 1500;
/** From the beginning of the leaving until no new requests come: kube-proxy takes that long and longer. */
const DEREGISTERED_MS = 2000;

/** A way to leave, as a preStop hook has it. */
interface Way {
  readonly name: string;
  readonly command: (admin: string) => readonly string[];
}

const curl = (admin: string) => `fetch("${admin}/quitquitquit", { method: "POST" })`;
const sleepThenQuit = (seconds: number): Way => ({
  name: seconds === 0 ? "quitquitquit" : `sleep ${seconds} && quitquitquit`,
  command: (admin) => [process.execPath, "-e", `await Bun.sleep(${seconds * 1000}); await ${curl(admin)};`],
});

export const ways: readonly Way[] = [
  sleepThenQuit(0),
  sleepThenQuit(5),
  sleepThenQuit(30),
  { name: "ebb drain --quit", command: (admin) => [ebbPath, "drain", "--admin", admin, "--quit"] },
];

export interface Leaving {
  readonly name: string;
  /** Milliseconds from the start of the hook until Envoy is gone. */
  readonly goneMs: number;
  readonly requests: readonly Request[];
}

/** Leaves under load beside a real Envoy. */
export async function leave({ name, command }: Way): Promise<Leaving> {
  await using app = await startApp();
  await using envoy = await startEnvoy({ upstreamPort: app.port });
  const load = startLoad(envoy.url, CLIENTS, SLOW);
  await Bun.sleep(WARM_UP_MS);
  load.begin();
  const start = performance.now();
  const deregistered = setTimeout(load.deregister, DEREGISTERED_MS);
  const hook = Bun.spawn([...command(envoy.admin)], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  await Promise.all([hook.exited, envoy.ended]);
  const goneMs = performance.now() - start;
  if (goneMs < DEREGISTERED_MS) await Bun.sleep(DEREGISTERED_MS - goneMs);
  clearTimeout(deregistered);
  load.deregister();
  return { name, goneMs, requests: await load.done() };
}

/** Leaving in each way, at the same time: they share nothing but the machine. */
export function leaveAll(): Promise<readonly Leaving[]> {
  return Promise.all(ways.map(leave));
}

export const setting =
  `a real Envoy, ${CLIENTS} clients with keep-alive connections: ${CLIENTS - SLOW} ask for 20-200 ms each, ${SLOW} for 3-9 s; ` +
  `new requests stop ${DEREGISTERED_MS / 1000} s after the leaving begins`;

/** Requests lost, and the time it takes, when a pod leaves. */
export const leaving: Figure = {
  name: "leaving",
  async run() {
    const rows = (await leaveAll()).map(({ name, goneMs, requests }) => {
      const lost = requests.filter((request) => request.lost !== undefined).length;
      return [name, String(requests.length), String(lost), number(goneMs / 1000)];
    });
    return [{ title: "leaving under load", shows: [setting], columns: ["", "requests", "lost", "gone after s"], rows }];
  },
};
