import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { type LogLine, logOf, timeOf } from "../../harness/ebb.ts";
import { request } from "../api.ts";
import type { Namespace } from "../cluster.ts";
import type { Requests } from "../programs/outside.ts";
import type { Calls } from "../programs/stopping.ts";
import { watchPods } from "../watch-pods.ts";
import { ports } from "./pods.ts";

/** What happens to a pod that stops. */
export interface Way {
  /** Asks for the stop; by default the pod is deleted. */
  readonly ask?: () => Promise<unknown>;
  /** What else happens then; `log` returns what a container has written so far. */
  readonly during?: (log: (container: string) => string) => Promise<unknown>;
  /** The times that clients' requests take, in ms: as many at once. Without any nobody calls the pod. */
  readonly clientsMs?: readonly number[];
  /** The port that they call; by default the one of Envoy that leads to the first app. */
  readonly port?: number;
}

export interface Stopped {
  /** The log of each container. */
  readonly logs: Readonly<Record<string, string>>;
  readonly requests: Requests | undefined;
  /** When the pod was gone or, if it stays, had ended; in ms since 1970. */
  readonly goneAt: number;
  /** The share of the 10 s before, 0 to 1, in which a process of this machine waited for a processor. */
  readonly busyShare: number;
}

/** Times of clients' requests, of which some are under way at any time. */
export const usualMs = [100, 4000, 700, 2500, 100, 4000, 700, 2500, 300, 1500];

/** Stops a pod that runs, and watches it until it is gone. */
export async function stop(here: Namespace, name: string, way: Way = {}): Promise<Stopped> {
  const { clientsMs, port, ask = () => request("DELETE", pathOf(here, name)), during } = way;
  const { spec } = await here.pod(name);
  const endClients = clientsMs && (await beginClients(here, name, clientsMs, port));
  const watched = await watchPods(here, `fieldSelector=metadata.name=${name}`);
  await ask();
  const requests = endClients?.();
  await during?.((container) => watched.log(name, container));
  const goneAt = await here.until(`${name} is gone`, () => watched.goneAt[name]);
  const busyShare = busyShareOfMachine();
  await watched.end();
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const logs = Object.fromEntries(containers.map((container) => [container.name, watched.log(name, container.name)]));
  return { logs, requests: await requests, goneAt, busyShare };
}

/** Where the kernel does not tell, 0. */
function busyShareOfMachine(): number {
  const text = existsSync(pressure) ? readFileSync(pressure, "utf8") : "";
  return Number(/^some avg10=([\d.]+)/m.exec(text)?.[1] ?? 0) / 100;
}

const pressure = "/proc/pressure/cpu";

/** Has clients call a pod, through its Envoy. The result ends them. */
export async function beginClients(here: Namespace, name: string, ms: readonly number[], port = ports.viaEnvoy.app) {
  const { status } = await here.pod(name);
  const url = encodeURIComponent(`http://${status.podIP}:${port}/`);
  const outside = pathOf(here, "outside:8080/proxy");
  await request("POST", `${outside}/begin?url=${url}&ms=${ms}`);
  return async (): Promise<Requests> => JSON.parse((await request("POST", `${outside}/end?url=${url}`)).text);
}

/** Returns the path of the pods of a namespace, or of one. */
export function pathOf({ name }: Namespace, pod?: string): string {
  return `/api/v1/namespaces/${name}/pods${pod === undefined ? "" : `/${pod}`}`;
}

/** Returns an app's calls, if it has come to its end. */
export function callsOf({ logs }: Stopped, container: string): Calls | undefined {
  const json = /^calls (.*)$/m.exec(logs[container] ?? "")?.[1];
  return json === undefined ? undefined : JSON.parse(json);
}

/** Returns the lines of ebb's log with a message, in a container. */
export function linesOf({ logs }: Stopped, container: string, message: string): readonly LogLine[] {
  return logOf(logs[container] ?? "").filter(({ msg }) => msg === `ebb: ${message}`);
}

/** The longest time, in ms, from the end of the apps until their pod is gone, on a machine that has nothing else to do. */
const GONE_MS = 2500;

/** Checks that the pod was gone soon after a moment: where all processors are taken, after at most twice that time. */
export function expectGone(what: string, { goneAt, busyShare }: Stopped, since: number): void {
  console.log(`${what}: gone after ${goneAt - since} ms, ${(busyShare * 100).toFixed(0)} % busy`);
  expect(goneAt - since).toBeLessThan(GONE_MS * (1 + busyShare));
}

/** Checks that an app's calls were answered, also those after its SIGTERM, for which it needed so long. */
function expectAnswered({ before, after }: Calls, needsMs: number): void {
  expect([before.answered, after.answered]).toEqual([before.asked, after.asked]);
  expect(after.asked).toBeGreaterThan(needsMs / 500); // one each 100 ms; fewer on a busy machine
}

/**
 * Checks that all calls of the apps were answered, and all requests of clients, and that the pod was gone soon. Says so,
 * with the figures.
 */
export function expectNothingLost(what: string, stopped: Stopped, needsMs: Readonly<Record<string, number>>): void {
  const { requests, logs } = stopped;
  const ends = Object.keys(needsMs).map((app) => linesOf(stopped, app, "done").map(timeOf)[0] ?? Number.NaN);
  const calls = Object.keys(needsMs).map((app) => [app, callsOf(stopped, app)]);
  console.log(`${what}: calls ${JSON.stringify(Object.fromEntries(calls))}, requests ${JSON.stringify(requests)}`);
  for (const [app, ms] of Object.entries(needsMs)) {
    expect((logs[app] as string).match(/^lost .*/gm)).toBeNull();
    expectAnswered(callsOf(stopped, app) as Calls, ms);
  }
  if (requests !== undefined) expect(requests.lost).toEqual({});
  expectGone(what, stopped, Math.max(...ends));
}
